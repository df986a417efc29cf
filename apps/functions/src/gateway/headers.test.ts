import { expect, test } from 'vitest'
import { forwardedHeaders, publicAddress, returnedHeaders, safeHost } from './headers.ts'

const sent = (headers: Record<string, string>, connection?: string, isTrusted = false) =>
  forwardedHeaders(Object.entries(headers).flat(), connection, '203.0.113.7', { isTrusted, exchanged: null })

test('a function gets the headers of its caller, but none of the connection or of the host', () => {
  const text = sent({
    Accept: '*/*',
    Host: 'x',
    Connection: 'keep-alive',
    'Transfer-Encoding': 'chunked',
    'Content-Length': '3',
    'X-Request-Id': 'forged',
    'X-Terrane-Claims': 'forged',
    'x-terrane-anything': 'forged',
    Authorization: 'Bearer t',
  })
  expect(text).toBe('accept: */*\r\nauthorization: Bearer t\r\nx-forwarded-for: 203.0.113.7\r\n')
})

test('headers that Connection names are of the connection too, wherever they stand', () => {
  const text = sent({ 'X-Hop': '1', 'X-Stay': '2', Connection: 'close, X-Hop' }, 'close, X-Hop')
  expect(text).toBe('x-stay: 2\r\nx-forwarded-for: 203.0.113.7\r\n')
})

test('the address of the peer is added behind what a trusted one says of others; others are not believed', () => {
  const headers = { 'X-Forwarded-For': '198.51.100.1' }
  expect(sent(headers, undefined, true)).toBe('x-forwarded-for: 198.51.100.1, 203.0.113.7\r\n')
  expect(sent(headers)).toBe('x-forwarded-for: 203.0.113.7\r\n')
})

test.each([
  [
    true,
    { host: 'inside:8001', 'x-forwarded-host': 'app.example', 'x-forwarded-proto': 'https' },
    'https://app.example',
  ],
  [
    true,
    { host: 'inside:8001', 'x-forwarded-host': 'app.example, proxy', 'x-forwarded-proto': 'https, http' },
    'https://app.example',
  ],
  [true, { host: 'inside:8001', 'x-forwarded-host': 'evil/path', 'x-forwarded-proto': 'gopher' }, 'http://inside:8001'],
  [true, { host: 'inside:8001' }, 'http://inside:8001'],
  [
    false,
    { host: 'inside:8001', 'x-forwarded-host': 'app.example', 'x-forwarded-proto': 'https' },
    'http://inside:8001',
  ],
])('the address that the caller has used: trusted %s, %o is %s', (isTrusted, headers, address) => {
  const { host, protocol } = publicAddress(headers, isTrusted)
  expect(`${protocol}://${host}`).toBe(address)
})

test('an answer passes without the headers of the connection, of the host, and with those of CORS apart', () => {
  const own = 'content-type: text/plain, set-cookie: a=1, set-cookie: b=2'
  const others =
    'keep-alive: timeout=9, x-error-code: FAKE, access-control-allow-origin: *, x-terrane-failure: thrown, x-terrane-held: 1'
  const received = `${own}, ${others}`.split(/: |, /)
  const kept = ['content-type', 'text/plain', 'set-cookie', 'a=1', 'set-cookie', 'b=2']
  const cors = ['access-control-allow-origin', '*']
  expect(returnedHeaders(received, true)).toEqual({ headers: kept, cors, cut: false, failure: 'thrown', held: true })
})

test('on a shared origin an answer is no page of it: sandboxed beside its own policy, and without what speaks for the origin', () => {
  const received = ['set-cookie', 'a=1', 'content-security-policy', 'default-src *', 'x-content-type-options', 'sniff']
  received.push(
    'service-worker-allowed',
    '/',
    'etag',
    '"1"',
    'link',
    '</a.js>; rel=preload',
    'use-as-dictionary',
    'match="/*"',
  )
  received.push('www-authenticate', 'Basic realm="x"', 'www-authenticate', 'Bearer', 'link', '<?page=2>; rel="next"')
  const { headers, cut } = returnedHeaders(received, false)
  expect([cut, returnedHeaders(['etag', '"1"', 'x-content-type-options', 'sniff'], false).cut]).toEqual([true, false])
  expect(headers).toEqual([
    'content-security-policy',
    'sandbox allow-scripts allow-forms allow-popups allow-downloads',
    'x-content-type-options',
    'nosniff',
    'content-security-policy',
    'default-src *',
    'etag',
    '"1"',
    'www-authenticate',
    'Bearer',
    'link',
    '<?page=2>; rel="next"',
  ])
})

test.each([
  ['app.example:8000', 'app.example:8000'],
  ['[::1]:80', '[::1]:80'],
  ['evil/path', 'localhost'],
  ['a b', 'localhost'],
  ['user@host', 'localhost'],
  [undefined, 'localhost'],
])('the host %s counts as %s', (given, host) => {
  expect(safeHost(given)).toBe(host)
})
