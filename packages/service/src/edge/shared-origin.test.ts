import { expect, test } from 'vitest'
import { isOfTheOrigin } from './shared-origin.ts'

test.each([
  'Set-Cookie',
  'WWW-Authenticate',
  'Link',
  'Use-As-Dictionary',
  'Secure-Session-Registration',
  'Sec-Session-Registration',
  'Shared-Storage-Write',
  'Origin-Trial',
  'Attribution-Reporting-Register-Source',
  'X-Accel-Redirect',
  'Surrogate-Control',
])('%s acts beyond the answer', (name) => {
  expect([isOfTheOrigin(name), isOfTheOrigin(name.toLowerCase())]).toEqual([true, true])
})

test.each(['content-type', 'etag', 'cache-control', 'location', 'retry-after', 'x-accel-buffering', 'x-total-count'])(
  '%s is of the answer alone',
  (name) => {
    expect(isOfTheOrigin(name, 'x')).toBe(false)
  },
)

test.each([
  ['</p?page=2>; rel="next", </p?page=9>; rel="last"', false],
  ['<https://a.example/doc>; rel=describedby; type="text/html"', false],
  ['<a>; REL="next prev"', false],
  ['</app.js>; rel=preload; as=script', true],
  ['<https://evil.example>; rel="next preconnect"', true],
  ['<a>; rel=next, <b>; rel="preload"', true],
  ['<a>; title="; rel=next"; rel=preload', true],
  ['<a>; rel=next; rel=preload', true],
  ['<a;rel=next>; rel=preload', true],
  ['</d>; rel="compression-dictionary"', true],
  ['<a>', true],
  ['', true],
])('Link: %s', (value, acts) => {
  expect(isOfTheOrigin('link', value)).toBe(acts)
})

test.each([
  ['Bearer', false],
  ['Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource"', false],
  ['DPoP algs="ES256"', false],
  ['Basic realm="x"', true],
  ['bearer realm="x", Basic realm="y"', true],
  ['Negotiate', true],
  ['Digest realm="x", nonce="y"', true],
])('WWW-Authenticate: %s', (value, acts) => {
  expect(isOfTheOrigin('WWW-Authenticate', value)).toBe(acts)
})
