/**
 * Asks a child to end when npm, which started this process, has ended. npm passes Ctrl-C on, but when npm itself is
 * killed, its scripts would continue. Without npm nothing is watched, because a process may outlive its shell.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => void} ends the watch
 */
export function endWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return () => {}
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    child.kill('SIGTERM')
  }, 500)
  return () => clearInterval(watch)
}
