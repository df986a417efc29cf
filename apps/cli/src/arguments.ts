import { InvalidArgumentError } from 'commander'

/** A whole number of at most five digits. */
export function whole(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Give a whole number.')
  return Number(text)
}

/** Any finite number. */
export function number(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Give a number.')
  return value
}

/** Two zooms, such as 0-14. */
export function zoomRange(text: string): readonly [number, number] {
  const [, low, high] = /^(\d{1,2})-(\d{1,2})$/.exec(text) ?? []
  if (low === undefined || high === undefined) throw new InvalidArgumentError('Give two zooms, e.g. 0-14.')
  return [Number(low), Number(high)]
}

/** Names of two columns, `x,y`. */
export function columnPair(text: string): { x: string; y: string } {
  const [x = '', y = '', ...more] = text.split(',').map((name) => name.trim())
  if (x === '' || y === '' || more.length > 0) throw new InvalidArgumentError('Give the names of two columns: x,y.')
  return { x, y }
}
