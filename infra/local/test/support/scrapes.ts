import { firedBy, shippedRules, type Scrapes } from '@terrane/kubernetes/alerts'
import type { House } from './house.ts'

/** One reading of the metrics of all apps: the values of each series, by name and labels. */
export type Snapshot = ReadonlyMap<
  string,
  { readonly labels: Readonly<Record<string, string>>; readonly value: number }
>

/** Apps whose metrics are read. */
export type ScrapedApps = Pick<House, 'apps'> & { readonly keys: Pick<House['keys'], 'metricsKey'> }

/** A snapshot and when it was taken, in seconds since the first one. */
export interface TimedSnapshot {
  readonly seconds: number
  readonly snapshot: Snapshot
}

const LINE = /^([a-z_:]\w*)(?:\{(.*)\})? (\S+)$/i
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g
const STEP_SECONDS = 30

/** Reads the metrics of every app as Prometheus does, including `up`. The timeout is ten seconds per app. */
export async function scrape(house: ScrapedApps): Promise<Snapshot> {
  const found = new Map<string, { labels: Record<string, string>; value: number }>()
  const add = (name: string, labels: Record<string, string>, value: number) =>
    found.set(`${name} ${JSON.stringify(labels)}`, { labels: { ...labels, __name__: name }, value })
  await Promise.all(
    house.apps.map(async ({ name: job, url }) => {
      const target = { job, instance: new URL(url).host }
      const headers = { authorization: `Bearer ${house.keys.metricsKey}` }
      const response = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(10_000) }).catch(() => null)
      const text = response?.ok === true ? await response.text() : null
      add('up', target, text === null ? 0 : 1)
      for (const line of text?.split('\n') ?? []) {
        const [, name, labels = '', value] = LINE.exec(line) ?? []
        if (name === undefined) continue
        const own = Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, text_]) => [label!, text_!]))
        add(name, { ...target, ...own }, Number(value))
      }
    }),
  )
  return found
}

/**
 * Series of a Prometheus server if the state of snapshots lasted: counters grow at the rate of the last two snapshots,
 * other values stay. First the state of `calm`, then that of `fault`.
 *
 * @param calm snapshots before the fault, and the seconds between them
 * @param fault snapshots during the fault, and the seconds between them
 */
function extended(
  calm: readonly [Snapshot, Snapshot, seconds: number],
  fault: readonly [Snapshot, Snapshot, seconds: number],
  { calmSeconds, faultSeconds }: { readonly calmSeconds: number; readonly faultSeconds: number },
): Scrapes {
  const scrapes: Record<string, { labels: Record<string, string>; samples: [number, number][] }[]> = {}
  const keys = new Set([...calm[1].keys(), ...fault[1].keys()])
  for (const key of keys) {
    const { __name__: name = '', ...labels } = (fault[1].get(key) ?? calm[1].get(key))!.labels
    const samples: [number, number][] = []
    const isCounter = name.endsWith('_total') || name.endsWith('_count')
    const base = calm[1].get(key)?.value ?? 0
    const course = ([from, to, seconds]: typeof calm, start: number, length: number) => {
      const last = to.get(key)
      if (!last) return
      const rate = isCounter ? Math.max(0, last.value - (from.get(key)?.value ?? 0)) / seconds : 0
      for (let t = 0; t < length; t += STEP_SECONDS) {
        const before = samples.at(-1)?.[1] ?? base
        samples.push([start + t, isCounter ? before + rate * STEP_SECONDS : last.value])
      }
    }
    course(calm, 0, calmSeconds)
    course(fault, calmSeconds, faultSeconds)
    ;(scrapes[name] ??= []).push({ labels, samples })
  }
  return scrapes
}

/** Seconds without and with the fault for which alerts are evaluated. */
const [CALM_SECONDS, FAULT_SECONDS] = [1800, 1800]

/**
 * The shipped alerts that fire at the end of the series of {@link extended}, by name, with their labels.
 *
 * @param calm snapshots before the fault, and the seconds between them
 * @param fault snapshots during the fault, and the seconds between them
 */
export function alertsOf(
  calm: readonly [Snapshot, Snapshot, seconds: number],
  fault: readonly [Snapshot, Snapshot, seconds: number],
): Record<string, unknown> {
  return firing(
    extended(calm, fault, { calmSeconds: CALM_SECONDS, faultSeconds: FAULT_SECONDS }),
    CALM_SECONDS + FAULT_SECONDS,
  )
}

/** The shipped alerts that fire during a series of snapshots, by name, with their labels. */
export function alertsDuring(snapshots: readonly TimedSnapshot[]): Record<string, unknown> {
  const series = new Map<string, { labels: Readonly<Record<string, string>>; samples: [number, number][] }>()
  for (const { seconds, snapshot } of snapshots)
    for (const [key, { labels, value }] of snapshot) {
      const one = series.get(key) ?? { labels, samples: [] }
      one.samples.push([seconds, value])
      series.set(key, one)
    }
  const scrapes = Object.groupBy(series.values(), ({ labels }) => labels['__name__']!) as Scrapes
  return firing(scrapes, snapshots.at(-1)!.seconds)
}

function firing(scrapes: Scrapes, until: number): Record<string, unknown> {
  const fired = [...shippedRules()].map(([name, rule]) => [name, firedBy(rule, scrapes, until)] as const)
  return Object.fromEntries(fired.filter(([, labels]) => labels.length > 0))
}
