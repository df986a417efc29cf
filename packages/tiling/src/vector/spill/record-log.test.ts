import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { memoryScratch } from '../../../test/vector/memory-scratch.ts'
import { RecordLog } from './record-log.ts'

test('records are scanned in order and fetched by address, whether they stayed in memory or not', () => {
  for (const limit of [Number.POSITIVE_INFINITY, 2 << 20, 0]) {
    const { open, files } = memoryScratch()
    using log = new RecordLog(open, limit)
    const random = seededRandom(5)
    const records = Array.from({ length: 150 }, (_, i) =>
      new Uint8Array(Math.floor(random() ** 8 * 3_000_000) + 1).fill(i),
    )
    const addresses = records.map((record) => {
      log.reserve(record.length)
      log.bytes.set(record, log.at)
      return log.commit(log.at + record.length)
    })
    log.rewind()
    for (const [i, record] of records.entries()) {
      expect(log.next()).toBe(addresses[i])
      expect(Buffer.compare(log.page.subarray(log.start, log.end), record)).toBe(0)
    }
    expect(log.next()).toBe(-1)
    for (let i = 0; i < 300; i++) {
      const pick = Math.floor(random() * records.length)
      log.open(addresses[pick]!)
      expect(Buffer.compare(log.page.subarray(log.start, log.end), records[pick]!)).toBe(0)
    }
    expect(files.length).toBe(limit === Number.POSITIVE_INFINITY ? 0 : 1)
  }
})
