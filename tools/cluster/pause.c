/* First process of every pod: holds the pod's namespaces, reaps what is left to it. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void Quit(int signal) {
  (void)signal;
  _exit(0);
}

static void Reap(int signal) {
  (void)signal;
  while (waitpid(-1, 0, WNOHANG) > 0) {
  }
}

int main(void) {
  signal(SIGINT, Quit);
  signal(SIGTERM, Quit);
  signal(SIGCHLD, Reap);
  for (;;) pause();
}
