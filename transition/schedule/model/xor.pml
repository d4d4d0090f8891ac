/* The XOR schedule never waits for ever: N ranks, N no power of two, any subset
 * of the pairs' messages. Each rank walks its own steps and knows of no order
 * but its own: peer = me ^ step, absent peers skipped, the lower rank of a pair
 * sends first. Rendezvous. (docs/design/0003-schedule.md)
 *
 *   BROKEN  both ends send first: spin must find that this waits for ever.
 */
#ifndef N
#define N 3
#endif
#ifndef STEPS
#define STEPS 4 /* the power of two from N on */
#endif

bool has[N * N]; /* from * N + to */
chan link[N * N] = [0] of { byte };

inline Send(peer) {
  if
  :: has[me * N + peer] -> link[me * N + peer] ! step
  :: else
  fi
}
inline Receive(peer) {
  if
  :: has[peer * N + me] -> link[peer * N + me] ? got; assert(got == step)
  :: else
  fi
}

proctype Rank(byte me) {
  byte step, peer, got;
  step = 1;
  do
  :: step < STEPS ->
    peer = (me ^ step);
    if
    :: peer >= N
#ifdef BROKEN
    :: peer < N -> Send(peer); Receive(peer)
#else
    :: peer < N && me < peer -> Send(peer); Receive(peer)
    :: peer < N && me > peer -> Receive(peer); Send(peer)
#endif
    fi;
    d_step { got = 0; step++ }
  :: step == STEPS -> break
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. N * N - 1) {
      if
      :: i % (N + 1) != 0 -> has[i] = true
      :: has[i] = false
      fi
    }
    for (i : 0 .. N - 1) { run Rank(i) }
    i = 0
  }
}
