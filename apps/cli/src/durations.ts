import { InvalidArgumentError } from 'commander'

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of `90s`, `30m`, `12h`, `7d` or `0`. */
export function parseDuration(text: string): number {
  if (text === '0') return 0
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (digits === '') throw new InvalidArgumentError('Give a number with s, m, h or d, e.g. 1h.')
  return Number(digits) * UNITS[unit as keyof typeof UNITS]
}
