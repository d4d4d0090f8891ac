/* Programs that follow one order never wait for ever: all orders of M messages
 * among N ranks, all executions. (docs/design/0003-schedule.md)
 *
 *   default    rendezvous: a send ends when it is received
 *   CREDITS=k  a send ends if fewer than k messages of its pair wait
 *   GROUPS     messages are cut into windows, all cuts; a rank begins all its
 *              messages of a window together and ends when all have met
 *   BROKEN     rank 0 does its first two messages (with GROUPS, windows) in the
 *              other order: spin must find that this can wait for ever, else it
 *              would find nothing
 */
#ifndef N
#define N 3
#endif
#ifndef M
#define M 4
#endif
#ifndef CREDITS
#define CREDITS 0
#endif

byte from[M];
byte to[M];
byte place[M]; /* of message i in the order of rank 0, if BROKEN */

#ifdef GROUPS

byte window[M];
bool sending[M];
bool receiving[M];

#ifdef BROKEN
#define WINDOW(i) (me == 0 && window[i] < 2 -> 1 - window[i] : window[i])
#else
#define WINDOW(i) window[i]
#endif
#define MINE(i) (from[i] == me || to[i] == me)

proctype Rank(byte me) {
  byte w, i;
  do
  :: w < M ->
    atomic { /* the group begins */
      for (i : 0 .. M - 1) {
        if
        :: WINDOW(i) == w && from[i] == me -> sending[i] = true
        :: WINDOW(i) == w && to[i] == me -> receiving[i] = true
        :: else
        fi
      }
      i = 0
    }
    do /* and ends */
    :: atomic {
        do
        :: i < M && !(WINDOW(i) == w && MINE(i)) -> i++
        :: else -> break
        od
      }
      if
      :: i < M -> sending[i] && receiving[i]; i++
      :: i == M -> break
      fi
    od;
    atomic { w++; i = 0 }
  :: w == M -> break
  od
}

#else

chan link[N * N] = [CREDITS] of { byte };

#define OP(k) (me == 0 -> place[k] : k)
#define MINE(i) (from[i] == me || to[i] == me)

proctype Rank(byte me) {
  byte k, i, got;
  do
  :: d_step { /* on to the next message of this rank */
      do
      :: k < M && !MINE(OP(k)) -> k++
      :: else -> break
      od;
      if
      :: k < M -> i = OP(k)
      :: else -> i = 0
      fi
    }
    if
    :: k < M && from[i] == me -> link[me * N + to[i]] ! i
    :: k < M && to[i] == me ->
      link[from[i] * N + me] ? got;
      assert(got == i)
    :: k == M -> break
    fi;
    d_step { got = 0; k++ }
  od
}

#endif

init {
  byte i, rank;
  atomic {
    to[0] = 1; /* from 0: ranks can be named so that it is */
    for (i : 1 .. M - 1) {
      select(rank : 0 .. N - 1);
      from[i] = rank;
      select(rank : 0 .. N - 2);
      to[i] = (from[i] + 1 + rank) % N;
    }
    for (i : 0 .. M - 1) {
      place[i] = i;
#ifdef GROUPS
      if
      :: i > 0 -> window[i] = window[i - 1]
      :: i > 0 -> window[i] = window[i - 1] + 1
      :: i == 0
      fi
#endif
    }
#ifdef BROKEN
    place[0] = 1;
    place[1] = 0;
#endif
    for (rank : 0 .. N - 1) { run Rank(rank) }
    i = 0;
    rank = 0
  }
}
