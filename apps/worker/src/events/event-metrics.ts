import { Counter, Gauge, Histogram, onScrape, type Registry } from '@terrane/service'
import type { LaneLoad } from './outbox.ts'

const DELAY_BUCKETS = [0.1, 0.5, 1, 5, 30, 120, 600, 3600]
const OUTCOMES = ['delivered', 'failed', 'dead'] as const

/** Counts the outcomes of events on this worker, and shows the waiting ones. */
export interface EventMetrics {
  /** @param seconds from the change to its delivery */
  delivered(seconds: number): void
  failed(isDead: boolean): void
  /** @param loads reads the load of each open project */
  watch(loads: () => readonly Promise<LaneLoad[]>[]): void
}

/** Registers the metrics of events. */
export function countEvents(registry: Registry): EventMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'terrane_event_attempts_total',
    help: 'Events that were sent, by outcome: delivered, failed, dead (failed for the last time).',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of OUTCOMES) attempts.inc({ outcome }, 0)
  const delay = new Histogram({
    name: 'terrane_event_delay_seconds',
    help: 'Time from an event to its delivery.',
    buckets: DELAY_BUCKETS,
    registers,
  })
  const events = new Gauge({
    name: 'terrane_events',
    help: 'Events that wait to be delivered, and dead letters; at most 1000 are counted of a hook.',
    labelNames: ['state'],
    registers,
  })
  const oldest = new Gauge({
    name: 'terrane_events_late_seconds',
    help: 'Age of the event that waits the longest.',
    registers,
  })
  return {
    delivered(seconds) {
      attempts.inc({ outcome: 'delivered' })
      delay.observe(Math.max(0, seconds))
    },
    failed: (isDead) => attempts.inc({ outcome: isDead ? 'dead' : 'failed' }),
    watch(loads) {
      onScrape(events, async () => {
        const settled = await Promise.allSettled(loads())
        const lanes = settled.flatMap((load) => (load.status === 'fulfilled' ? load.value : []))
        events.set({ state: 'waiting' }, lanes.reduce((sum, { waiting }) => sum + waiting, 0)) // prettier-ignore
        events.set({ state: 'dead' }, lanes.reduce((sum, { dead }) => sum + dead, 0)) // prettier-ignore
        oldest.set(Math.max(0, ...lanes.map((lane) => lane.oldest)))
      })
    },
  }
}
