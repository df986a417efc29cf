// Limits the number of test processes: bootstrap.mjs serves the places, and each package's run.ts waits for its own.
// Turbo alone would start small packages first and end with the largest, and would count a package of two processes as
// one. It uses plain JavaScript and built-in modules only, because infra/bootstrap.mjs runs it before anything is
// installed.
import { randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Milliseconds without another request after which places are given: turbo starts all tasks within a moment. */
const QUIET_MS = 500

/**
 * Serves places on a socket whose path is returned. The largest waiting request comes first, and smaller ones do not
 * pass it. A place is free again when its connection ends.
 *
 * @param {number} places processes that run at once
 * @returns {Promise<{ path: string, close: () => void }>}
 */
export async function givePlaces(places) {
  let free = places
  let quiet
  const waiting = []
  const give = () => {
    while (waiting.length > 0 && waiting[0].wanted <= free) {
      const { socket, wanted } = waiting.shift()
      free -= wanted
      socket.once('close', () => {
        free += wanted
        give()
      })
      socket.write('go')
    }
  }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (request) => {
      const { wanted, size } = JSON.parse(request.toString())
      const entry = { socket, size, wanted: Math.min(wanted, places) }
      waiting.push(entry)
      waiting.sort((a, b) => b.size - a.size)
      socket.once('close', () => waiting.includes(entry) && waiting.splice(waiting.indexOf(entry), 1))
      clearTimeout(quiet)
      quiet = setTimeout(give, QUIET_MS)
    })
  })
  // The name is short, because some systems limit the path of a socket to 104 bytes.
  const name = `terrane-${randomBytes(6).toString('hex')}`
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name)
  await new Promise((resolve, reject) => server.once('error', reject).listen(path, resolve))
  server.unref()
  return { path, close: () => server.close() }
}

/**
 * Waits for places. The returned function gives them back.
 *
 * @param {string} path the socket
 * @param {number} wanted places
 * @param {number} size the largest comes first
 * @returns {Promise<() => void>}
 */
export async function takePlaces(path, wanted, size) {
  const socket = connect(path)
  socket.write(JSON.stringify({ wanted, size }))
  await new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject))
  socket.unref()
  return () => socket.destroy()
}
