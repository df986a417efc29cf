import { connect } from 'node:net'

export interface Load {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  readonly seconds: number
  /** Every answer must be 200 and end with this. */
  readonly expected: string
}

/**
 * Sends one request after the other on each connection; returns the number of answers. It does little work per request,
 * because it shares the measured cores.
 */
export async function load({ url, headers, body, connections, seconds, expected }: Load): Promise<number> {
  const { hostname, port, pathname, host } = new URL(url)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n`
  const request = Buffer.from(head + body)
  const end = performance.now() + seconds * 1000
  let answered = 0
  const keepBusy = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(request))
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        if (!text.endsWith(expected)) {
          if (text.length > 10_000) socket.destroy(new Error(`unexpected answer: ${text.slice(0, 500)}`))
          return
        }
        if (!text.startsWith('HTTP/1.1 200 ')) {
          socket.destroy(new Error(`unexpected answer: ${text}`))
          return
        }
        answered++
        text = ''
        if (performance.now() < end) socket.write(request)
        else socket.end()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve())
    })
  await Promise.all(Array.from({ length: connections }, keepBusy))
  return answered
}
