import { createHash } from 'node:crypto'
import { DEPTH_HEADER, SIGNED_DEPTH } from '@terrane/contracts/events'
import type { Lane } from './lanes.ts'
import type { ClaimedEvent } from './outbox.ts'

/** Maximum bytes of bodies of one call, besides its first event. */
const CALL_BYTES = 4 << 20

/** Id of a call: the same events give the same id at each attempt. */
export function messageId({ name, hook }: Lane, events: readonly ClaimedEvent[]): string {
  if (hook) return `evt_${hook.id.replaceAll('-', '')}_${events[0]!.id}`
  const ids = createHash('sha256').update(events.map(({ id }) => id).join())
  return `evt_${name.slice('queue:'.length)}_${ids.digest('hex').slice(0, 32)}`
}

/** Header with the depths of events that have the form; other text, which SQL can set, could make it invalid. */
export function depthHeader(events: readonly ClaimedEvent[]): Readonly<Record<string, string>> {
  const depths = new Set(events.map(({ depth }) => depth).filter((depth) => depth !== null && SIGNED_DEPTH.test(depth)))
  return depths.size === 0 ? {} : { [DEPTH_HEADER]: [...depths].join(', ') }
}

/** Splits events into parts of at most `most` events and {@link CALL_BYTES}, not counting the first event. */
export function batches(events: readonly ClaimedEvent[], most: number): ClaimedEvent[][] {
  const parts: ClaimedEvent[][] = []
  let bytes = 0
  for (const event of events) {
    const size = Buffer.byteLength(event.body)
    bytes += size
    const last = parts.at(-1)
    if (last && last.length < most && bytes <= CALL_BYTES) last.push(event)
    else {
      parts.push([event])
      bytes = size
    }
  }
  return parts
}

/** The body of a call of a consumer; bodies are JSON already. */
export function batchOf({ name }: Lane, events: readonly ClaimedEvent[]): string {
  const messages = events.map(({ id, body, attempts, created_at: createdAt }) => {
    const facts = JSON.stringify({ id, attempts, created_at: createdAt.toISOString() })
    return `${facts.slice(0, -1)},"body":${body}}`
  })
  return `{"type":"queue","queue":${JSON.stringify(name.slice('queue:'.length))},"messages":[${messages.join(',')}]}`
}
