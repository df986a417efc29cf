import { createServer } from 'node:http'

interface Location {
  readonly lat: number
  readonly lon: number
}

/** Answers in the manner of the routing engine with a straight line: for a repository that has no engine yet. */
export function startStandInRouter(port: number): AsyncDisposable {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { locations } = JSON.parse(body) as { locations: Location[] }
      const summary = { time: 120, length: 1.5 }
      const maneuvers = [
        { type: 1, instruction: 'Drive north.', time: 120, length: 1.5, begin_shape_index: 0, end_shape_index: 1 },
        { type: 4, instruction: 'You have arrived.', time: 0, length: 0, begin_shape_index: 1, end_shape_index: 1 },
      ]
      const legs = [{ maneuvers, shape: encode(locations), summary }]
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ trip: { legs, summary, status: 0 } }))
    })
  }).listen(port, '127.0.0.1')
  return {
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function encode(locations: readonly Location[]): string {
  let [text, lat, lng] = ['', 0, 0]
  const write = (delta: number) => {
    let value = delta < 0 ? ~(delta << 1) : delta << 1
    for (; value >= 32; value >>>= 5) text += String.fromCharCode((32 | (value & 31)) + 63)
    text += String.fromCharCode(value + 63)
  }
  for (const location of locations) {
    const [nextLat, nextLng] = [Math.round(location.lat * 1e6), Math.round(location.lon * 1e6)]
    write(nextLat - lat)
    write(nextLng - lng)
    ;[lat, lng] = [nextLat, nextLng]
  }
  return text
}
