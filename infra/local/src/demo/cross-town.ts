import { setTimeout as sleep } from 'node:timers/promises'
import type { Keys } from '../keys.ts'
import { say } from '../log.ts'
import type { Stack } from '../stack.ts'
import { TOWN_BBOX } from './town.ts'

/** Maximum number of printed instructions. */
const SHOWN = 6

interface Answer {
  readonly error?: string
  readonly trip: {
    readonly summary: { readonly length: number; readonly time: number }
    readonly legs: readonly { readonly maneuvers: readonly { readonly instruction: string }[] }[]
  }
}

/** Requests a route through the origin from one corner of the demo town to the other. */
export async function crossTown(stack: Stack, keys: Keys): Promise<void> {
  await routerReady(stack)
  const url = `${stack.originUrl}/routing-engine/v1/route`
  const body = { locations: [placeAt(0.2), placeAt(0.8)], costing: 'auto', language: 'en-US' }
  const response = await fetch(url, {
    method: 'POST',
    headers: { apikey: keys.servicesKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Answer
  if (response.status !== 200) throw new Error(`the router answered ${response.status}: ${answer.error}`)
  const { summary, legs } = answer.trip
  const instructions = legs.flatMap((leg) => leg.maneuvers.map(({ instruction }) => instruction))
  say(`Across the town by car: ${summary.length.toFixed(1)} km in ${Math.ceil(summary.time / 60)} min (POST ${url})`)
  for (const instruction of instructions.slice(0, SHOWN)) say(`  ${instruction}`)
  if (instructions.length > SHOWN) say(`  ... and ${instructions.length - SHOWN} more`)
}

/** Waits for the router, whose first start builds a graph. */
async function routerReady(stack: Stack): Promise<void> {
  for (;;) {
    const { status } = (await (await fetch(`${stack.routerUrl}/health/ready`)).json()) as { status: string }
    if (status === 'ok') return
    if (status === 'down') throw new Error('the router has no graph; see its lines above')
    await sleep(200)
  }
}

/** A position on the town's diagonal; `share` is the fraction of its length. */
function placeAt(share: number): { lat: number; lon: number } {
  const [west, south, east, north] = TOWN_BBOX
  return { lat: south + (north - south) * share, lon: west + (east - west) * share }
}
