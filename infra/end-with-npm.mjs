/**
 * Asks a child to end when npm, which started this process, has ended: npm passes a Ctrl-C on, but where it is ended
 * itself its scripts would go on without it. Without npm nothing is watched: what a shell has started outlives the shell.
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
