// The peer of the warm bench: a minimal proxy of Fastify and undici to a unix socket or a port. It buffers bodies and
// has no policies, limits or logs. The first argument is the socket's path or an address.
import fastify from 'fastify'
import { Pool } from 'undici'

const to = process.argv[2]!
const options = { connections: 64, pipelining: 1 }
const pool = to.startsWith('http:')
  ? new Pool(to, options)
  : new Pool('http://function', { socketPath: to, ...options })
const app = fastify({ logger: false })
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.all('/*', (request, reply) => {
  const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers
  const chunks: Buffer[] = []
  pool.dispatch(
    { path: request.url, method: request.method, headers, body: request.body as Buffer | null },
    {
      onRequestStart() {},
      onResponseStart(_controller, status, received) {
        reply.code(status)
        for (const [name, value] of Object.entries(received))
          if (name !== 'connection' && name !== 'transfer-encoding') reply.header(name, value)
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
      },
      onResponseEnd() {
        reply.send(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
      },
      onResponseError(_controller, error) {
        reply.send(error)
      },
    },
  )
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
process.send!({ url })
process.once('disconnect', () => process.exit(0))
