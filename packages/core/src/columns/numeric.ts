const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,5}))?$/i
const DIGITS = 4

/** A number of any length in the server's binary form: four decimal digits each, from the first one that is not 0. */
export function encodeNumeric(text: string): Buffer {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (sign === undefined || whole + fraction === '') throw new RangeError(`${text.slice(0, 40)} is not a number`)
  const all = whole + fraction
  const point = whole.length + Number(exponent)
  const before = point <= 0 ? '' : all.slice(0, point).padEnd(point, '0')
  const after = point >= all.length ? '' : '0'.repeat(Math.max(0, -point)) + all.slice(Math.max(0, point))
  const groups = [
    ...grouped(before.padStart(Math.ceil(before.length / DIGITS) * DIGITS, '0')),
    ...grouped(after.padEnd(Math.ceil(after.length / DIGITS) * DIGITS, '0')),
  ]
  let weight = Math.ceil(before.length / DIGITS) - 1
  while (groups[0] === 0) {
    groups.shift()
    weight--
  }
  while (groups.at(-1) === 0) groups.pop()
  const out = Buffer.alloc(8 + groups.length * 2)
  out.writeInt16BE(groups.length, 0)
  out.writeInt16BE(groups.length === 0 ? 0 : weight, 2)
  out.writeUInt16BE(sign === '-' && groups.length > 0 ? 0x4000 : 0, 4)
  out.writeInt16BE(after.length, 6)
  for (const [i, group] of groups.entries()) out.writeInt16BE(group, 8 + i * 2)
  return out
}

function grouped(digits: string): number[] {
  return Array.from({ length: digits.length / DIGITS }, (_, i) => Number(digits.slice(i * DIGITS, (i + 1) * DIGITS)))
}
