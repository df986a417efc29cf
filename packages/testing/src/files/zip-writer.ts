import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  readonly name: string
  readonly data: Uint8Array
  readonly store?: boolean
  /** Unix mode, e.g. of a link. */
  readonly mode?: number
  readonly flags?: number
  readonly method?: number
  /** Size and checksum that the archive states instead of the true ones. */
  readonly claimedSize?: number
  readonly claimedCrc?: number
  /** Offset that the directory states. */
  readonly claimedOffset?: number
}

/** Extra field of an entry with 64-bit sizes and offset, and the placeholders in their usual fields (APPNOTE 4.5.3). */
function wideFields(central: Buffer): Buffer {
  const extra = Buffer.alloc(28)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(24, 2)
  for (const [at, from] of [24, 20, 42].entries()) {
    extra.writeBigUInt64LE(BigInt(central.readUInt32LE(from)), 4 + 8 * at)
    central.writeUInt32LE(0xffffffff, from)
  }
  central.writeUInt16LE(extra.length, 30)
  return extra
}

/** End of a Zip64 directory and its locator (APPNOTE 4.3.14, 4.3.15). */
function wideEnd(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(56 + 20)
  end.writeUInt32LE(0x06064b50, 0)
  end.writeBigUInt64LE(44n, 4)
  end.writeBigUInt64LE(BigInt(count), 24)
  end.writeBigUInt64LE(BigInt(count), 32)
  end.writeBigUInt64LE(BigInt(size), 40)
  end.writeBigUInt64LE(BigInt(offset), 48)
  end.writeUInt32LE(0x07064b50, 56)
  end.writeBigUInt64LE(BigInt(offset + size), 64)
  end.writeUInt32LE(1, 72)
  return end
}

/** A zip archive, whose statements may be false; with `isWide` it is Zip64. */
export function zip(entries: readonly ZipEntry[], claimedCount = entries.length, isWide = false): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const body = entry.store ? Buffer.from(entry.data) : deflateRawSync(entry.data)
    const name = Buffer.from(entry.name)
    const method = entry.method ?? (entry.store ? 0 : 8)
    const crc = entry.claimedCrc ?? crc32(entry.data)
    const size = entry.claimedSize ?? entry.data.length
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(method, 8)
    local.writeUInt32LE(crc, 14)
    local.writeUInt32LE(body.length, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(name.length, 26)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE((3 << 8) | 20, 4)
    central.writeUInt16LE(entry.flags ?? 0, 8)
    central.writeUInt16LE(method, 10)
    central.writeUInt32LE(crc, 16)
    central.writeUInt32LE(body.length, 20)
    central.writeUInt32LE(size, 24)
    central.writeUInt16LE(name.length, 28)
    central.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38)
    central.writeUInt32LE(entry.claimedOffset ?? offset, 42)
    parts.push(local, name, body)
    directory.push(central, name)
    if (isWide) directory.push(wideFields(central))
    offset += local.length + name.length + body.length
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(claimedCount, 8)
  end.writeUInt16LE(claimedCount, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(isWide ? 0xffffffff : offset, 16)
  const wide = isWide ? [wideEnd(entries.length, size, offset)] : []
  return Buffer.concat([...parts, ...directory, ...wide, end])
}
