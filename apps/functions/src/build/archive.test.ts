import { expect, test } from 'vitest'
import { pack, unpack } from './archive.ts'

const code = Buffer.from('export default 1')
const bytes = (text: string) => new TextEncoder().encode(text)

test('an archive gives back what went in, and equal contents give equal bytes', () => {
  const files = new Map([
    ['b/c.txt', bytes('C')],
    ['a.bin', new Uint8Array([0, 255])],
  ])
  const archive = pack({ code, files })
  const { code: unpackedCode, files: unpacked } = unpack(archive)
  expect(Buffer.from(unpackedCode).equals(code)).toBe(true)
  expect([...unpacked].map(([path, content]) => [path, Buffer.from(content).toString('hex')])).toEqual([
    ['a.bin', '00ff'],
    ['b/c.txt', '43'],
  ])
  expect(pack({ code, files: new Map([...files].toReversed()) }).equals(archive)).toBe(true)
})

test.each(['../x', '/etc/x', 'a/../../x', './x', 'a//b', '', 'index.mjs', 'a/.'])(
  'the path %j does not leave the folder',
  (path) => {
    const archive = pack({ code, files: new Map([[path, bytes('x')]]) })
    expect(() => unpack(archive)).toThrow(expect.objectContaining({ code: 'FUNCTION_ARCHIVE_INVALID' }))
  },
)

test('a damaged archive is refused wherever the damage is', () => {
  const archive = pack({ code, files: new Map([['a', bytes('abc')]]) })
  for (let length = 0; length < archive.length; length++)
    expect(() => unpack(archive.subarray(0, length))).toThrow(/damaged/)
  expect(() => unpack(Buffer.concat([archive, Buffer.from('x')]))).toThrow(/bytes too many/)
})
