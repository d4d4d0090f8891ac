/* The C ABI of libdynatrain.so: what a rank process loads.
 *
 * All functions but dt_abi_version and dt_free return 0 on success and a
 * negative DT_* code on failure; dt_error(session) then tells why, for a
 * person, until the next call of the same thread. Text is UTF-8 JSON.
 * Text and blobs that a function hands out are freed with dt_free. Every
 * function may be called from any thread unless it says otherwise, and none
 * calls back into Python, so the GIL can be released around each.
 */
#ifndef AGENT_RUNTIME_DYNATRAIN_H_
#define AGENT_RUNTIME_DYNATRAIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DT_ABI_VERSION 1

enum dt_code {
  DT_OK = 0,
  DT_INVALID = -1,   /* bad argument: never try again */
  DT_TIMEOUT = -2,   /* a deadline passed; the message says what for */
  DT_LOST = -3,      /* the agent or a peer is gone */
  DT_REFUSED = -4,   /* a precondition does not hold; nothing was changed */
  DT_CORRUPT = -5,   /* a digest differs; nothing was committed */
  DT_CANCELLED = -6, /* by abort or dismiss */
};

typedef struct dt_session dt_session;

int dt_abi_version(void);
void dt_free(void* p);
/* Last error of the calling thread. Never NULL. */
const char* dt_error(void);

/* Connects to the agent, opens this process's transport listener, says hello
 * and waits for welcome. config: {"socket", "local_rank", "pod_ip", "key",
 * "staging_bytes"}; absent entries come from DYNATRAIN_*. welcome: the frame.
 */
int dt_open(const char* config, dt_session** session, char** welcome);
/* Ends the control thread and closes everything. No other call may run. */
void dt_close(dt_session* session);

/* The next instruction for Python: {"kind":"prepare", "transition":{…}},
 * {"kind":"abort","g"}, {"kind":"dismiss","reason"}, {"kind":"commit","g"}.
 * DT_TIMEOUT after timeout_ms (-1: none), DT_LOST if the agent is gone. */
int dt_next(dt_session*, int timeout_ms, char** instruction);

/* Sends a frame ("step", "prepared", "failed", "resumed", "left", "finished",
 * …) as written in docs/design/0001. The runtime adds what it alone knows. */
int dt_report(dt_session*, const char* frame);

/* Computes this process's part of the plan, tells the agent what it agrees on
 * ("planned"), and connects to the peers it has routes with (before the pause).
 * manifest: JSON text. summary: {"plan_digest",
 * "manifest_digest","sent_hash","received_hash","kept_bytes","moved_bytes",
 * "minimal_bytes","staging_bytes","peers","source_rank","target_rank" (-1:
 * none), "sources":[{"index","name","state","dtype","local_shape"}],
 * "targets":[…], "times_ms"}: the local tensors that have to be bound on each
 * side; empty lists if this process is in no such world. DT_REFUSED with the
 * difference by tensor name if the manifest differs from the transition's. */
int dt_plan(dt_session*, const char* transition, const char* manifest,
            char** summary);

enum dt_side { DT_SOURCE = 0, DT_TARGET = 1 };

/* Binds the memory of one local tensor (index as in the summary): base address
 * of its first element, local shape and strides in bytes. Memory must stay
 * valid until dt_transfer returns. DT_INVALID names the tensor if the shape
 * differs. */
int dt_bind(dt_session*, uint64_t generation, int side, int64_t index,
            void* data, int ndim, const int64_t* shape,
            const int64_t* strides_bytes);

/* Non-tensor state. key: "common" or "coordinate". Put before dt_transfer, on
 * the source side; get after it, on the target side (len 0: none came). */
int dt_put_blob(dt_session*, uint64_t generation, const char* key,
                const void* bytes, size_t len);
int dt_get_blob(dt_session*, uint64_t generation, const char* key, void** bytes,
                size_t* len);

enum dt_action {
  DT_CONTINUE = 0,
  DT_STOP = 1,    /* armed: bind the sources and call dt_transfer */
  DT_DISMISS = 2, /* leave the loop and exit */
};

/* Between two steps: `step` steps are complete. Says what to do; does not wait.
 */
int dt_boundary(dt_session*, uint64_t generation, uint64_t step, int* action);

enum dt_outcome {
  DT_COMMITTED = 1, /* the new world is the job's: go on there, or leave */
  DT_KEPT = 2,      /* cancelled or aborted: go on in the old world */
};

/* Takes part in the transfer of `generation`: reports stopped, waits for Go,
 * moves and copies, compares digests, reports verified, waits for the
 * outcome. A joiner calls it right after `prepared`. On a failure before
 * Verified it reports `failed` itself, waits for Abort and returns DT_KEPT with
 * report.failure set. report: {"failure",
 * "bytes_sent","bytes_received","times_ms":{"wait_go","transfer","verify","commit",…}}
 */
int dt_transfer(dt_session*, uint64_t generation, int* outcome, char** report);

/* Drops all of a generation that was aborted or is over: plan, links, bindings.
 */
int dt_drop(dt_session*, uint64_t generation);

/* The rendezvous store of a generation (torch.distributed.Store over the
 * agents). request: {"op","g","keys","expected_b64"?, "amount","timeout_ms"};
 * value: raw bytes or NULL. reply: {"ok","number","error"}; out: raw bytes. */
int dt_store(dt_session*, const char* request, const void* value, size_t len,
             char** reply, void** out, size_t* out_len);

#ifdef __cplusplus
}
#endif
#endif /* AGENT_RUNTIME_DYNATRAIN_H_ */
