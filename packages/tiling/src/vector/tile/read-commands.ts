import { type Path, twiceArea } from '@terrane/core'
import { VarintReader, unzigzag } from '../bytes/varint.ts'
import { POINT, POLYGON } from '../features/shape.ts'
import type { Kind } from '../features/shape.ts'

/** Reads Vector Tile commands `bytes[start, end)` of one feature and appends them to a path. */
export function readCommands(bytes: Uint8Array, start: number, end: number, kind: Kind, path: Path): void {
  const varints = new VarintReader().open(bytes, start)
  let x = 0
  let y = 0
  while (varints.at < end) {
    const command = varints.next()
    const count = command >>> 3
    if ((command & 7) === 7) {
      path.endPart(0, 1)
      const part = path.parts - 1
      path.holes[part] = twiceArea(path.xy, path.startOf(part) / 2, path.ends[part]! / 2) < 0 ? 1 : 0
      continue
    }
    // The next MoveTo ends a line. Points are one part; rings end with ClosePath.
    if ((command & 7) === 1 && kind !== POINT && kind !== POLYGON && path.length > path.openStart()) path.endPart(0, 2)
    path.ensure(count)
    for (let i = 0; i < count; i++) {
      x += unzigzag(varints.next())
      y += unzigzag(varints.next())
      path.push(x, y)
    }
  }
  if (kind !== POLYGON && path.length > path.openStart()) path.endPart(0, 1)
}
