#include "transition/schedule/queue_simulation.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace dynatrain::transition {
namespace {

class Simulation {
 public:
  Simulation(absl::Span<const TransferJob> jobs, int num_ends, int num_ports,
             int credits)
      : jobs_(jobs),
        credits_(credits),
        place_(jobs.size()),
        end_(jobs.size(), -1),
        senders_(num_ends),
        receivers_(num_ends),
        out_ports_(num_ports),
        in_ports_(num_ports) {
    for (int job = 0; job < static_cast<int>(jobs.size()); ++job) {
      senders_[jobs[job].sender].jobs.push_back(job);
      Receiver& receiver = receivers_[jobs[job].receiver];
      place_[job] = receiver.jobs.size();
      receiver.jobs.push_back(job);
    }
  }

  std::vector<int64_t> Run() && {
    for (Sender& sender : senders_) {
      if (!sender.jobs.empty()) ready_.push_back(sender.jobs.front());
    }
    StartReady();
    while (!running_.empty()) {
      now_ = running_.top().first;
      // All that ends now ends before anything starts, so that which of them
      // the heap gives first makes no difference.
      while (!running_.empty() && running_.top().first == now_) {
        const int job = running_.top().second;
        running_.pop();
        Finish(job);
      }
      StartReady();
    }
    return std::move(end_);
  }

 private:
  struct Port {
    bool busy = false;
    std::vector<int> waiting;
  };
  struct Sender {
    std::vector<int> jobs;
    size_t next = 0;
  };
  struct Receiver {
    std::vector<int> jobs;
    size_t num_finished_in_order = 0;
    std::vector<int> waiting;  // for a credit
  };

  // Starts what it can, in the order of the list. A job that can't start waits
  // at the first thing it lacks.
  void StartReady() {
    std::sort(ready_.begin(), ready_.end());
    for (int job : ready_) Start(job);
    ready_.clear();
  }

  void Start(int job) {
    const TransferJob& it = jobs_[job];
    Receiver& receiver = receivers_[it.receiver];
    Port& out = out_ports_[it.out_port];
    Port& in = in_ports_[it.in_port];
    if (place_[job] >= receiver.num_finished_in_order + credits_) {
      receiver.waiting.push_back(job);
    } else if (out.busy) {
      out.waiting.push_back(job);
    } else if (in.busy) {
      in.waiting.push_back(job);
    } else {
      out.busy = in.busy = true;
      running_.emplace(now_ + it.duration, job);
    }
  }

  void Finish(int job) {
    const TransferJob& it = jobs_[job];
    end_[job] = now_;
    Release(out_ports_[it.out_port]);
    Release(in_ports_[it.in_port]);
    Receiver& receiver = receivers_[it.receiver];
    const size_t before = receiver.num_finished_in_order;
    while (receiver.num_finished_in_order < receiver.jobs.size() &&
           end_[receiver.jobs[receiver.num_finished_in_order]] >= 0) {
      ++receiver.num_finished_in_order;
    }
    if (receiver.num_finished_in_order != before) WakeAll(receiver.waiting);
    Sender& sender = senders_[it.sender];
    if (++sender.next < sender.jobs.size()) {
      ready_.push_back(sender.jobs[sender.next]);
    }
  }

  void Release(Port& port) {
    port.busy = false;
    WakeAll(port.waiting);
  }

  void WakeAll(std::vector<int>& waiting) {
    ready_.insert(ready_.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }

  using EndAndJob = std::pair<int64_t, int>;

  const absl::Span<const TransferJob> jobs_;
  const size_t credits_;
  std::vector<size_t> place_;  // of each job in its receiver's order
  std::vector<int64_t> end_;   // -1 until it has ended
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<Port> out_ports_;
  std::vector<Port> in_ports_;
  std::priority_queue<EndAndJob, std::vector<EndAndJob>, std::greater<>>
      running_;
  std::vector<int> ready_;
  int64_t now_ = 0;
};

}  // namespace

std::vector<int64_t> EndTimes(absl::Span<const TransferJob> jobs, int num_ends,
                              int num_ports, int credits) {
  return Simulation(jobs, num_ends, num_ports, credits).Run();
}

std::vector<TransferTime> OrderTimes(const Schedule& schedule,
                                     const PortMap& ports,
                                     const OrderCosts& costs) {
  std::vector<TransferTime> pieces;
  std::vector<TransferJob> jobs;
  pieces.reserve(schedule.parcels.size());
  jobs.reserve(schedule.parcels.size());
  for (const Parcel& parcel : schedule.parcels) {
    for (int64_t done = 0; done < parcel.bytes; done += costs.piece_bytes) {
      const int64_t bytes = std::min(costs.piece_bytes, parcel.bytes - done);
      pieces.push_back(
          {.parcel = {parcel.sender, parcel.receiver,
                      parcel.offset_bytes + done, bytes, parcel.stream}});
      jobs.push_back({.sender = parcel.sender,
                      .receiver = parcel.receiver,
                      .out_port = ports[parcel.sender],
                      .in_port = ports[parcel.receiver],
                      .duration = costs.piece_time(bytes)});
    }
  }
  const std::vector<int64_t> ends =
      EndTimes(jobs, ports.num_ranks(), ports.num_ports, costs.credits);
  for (size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].begin = ends[i] - jobs[i].duration;
    pieces[i].end = ends[i];
  }
  return pieces;
}

int64_t OrderEnd(const Schedule& schedule, const PortMap& ports,
                 const OrderCosts& costs) {
  int64_t last = 0;
  for (const TransferTime& piece : OrderTimes(schedule, ports, costs)) {
    last = std::max(last, piece.end);
  }
  return last;
}

}  // namespace dynatrain::transition
