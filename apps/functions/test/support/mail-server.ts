import { createServer, type Server } from 'node:net'

/** A mail server that takes one message and records it. */
export function mailServer(letters: string[]): Server {
  return createServer((socket) => {
    let text = ''
    let inLetter = false
    socket.on('error', () => {})
    socket.write('220 mail.test\r\n')
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        if (inLetter) {
          letters.push(line)
          if (line !== '.') continue
          inLetter = false
        } else if (line === 'DATA') {
          inLetter = true
          socket.write('354 go\r\n')
          continue
        }
        socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
      }
    })
  })
}
