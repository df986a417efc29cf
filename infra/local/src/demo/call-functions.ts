import { createClient, FunctionsHttpError, FunctionsRelayError } from '@supabase/supabase-js'
import type { Keys } from '../keys.ts'
import { say } from '../log.ts'
import type { Stack } from '../stack.ts'
import { TOWN_BBOX } from './town.ts'

/** Answer of the function `nearest`, see apps/functions/examples/nearest. */
interface Nearest {
  readonly places: readonly {
    readonly id: number
    readonly similarity: number
    readonly centre: { readonly lon: number; readonly lat: number }
  }[]
  readonly route: { readonly seconds: number; readonly kilometers: number } | { readonly error: string } | null
}

/** Calls the two example functions through the origin, by `functions.invoke` of supabase-js. */
export async function callFunctions(stack: Stack, keys: Keys, table: string): Promise<void> {
  const client = createClient(stack.originUrl, keys.anonKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  })
  const invoke = async <T>(name: string, body: object): Promise<T> => {
    const { data, error } = (await client.functions.invoke(name, { body })) as { data: T; error: unknown }
    if (error) throw new Error(`the function ${name} failed: ${await reasonOf(error)}`)
    return data
  }
  const greeting = await invoke<{ message: string }>('hello', { name: 'Terrane' })
  say(`Function hello, by functions.invoke through supabase-js: ${greeting.message}`)

  const [west, south, east, north] = TOWN_BBOX
  const question = { table, lon: (west + east) / 2, lat: (south + north) / 2, radius: 300, limit: 4 }
  const { places, route } = await invoke<Nearest>('nearest', question)
  if (places.length === 0) throw new Error('the function nearest found no place')
  say('Function nearest: what looks most like the middle of the town, and the way to the first place elsewhere:')
  for (const { id, similarity, centre } of places)
    say(
      `  tile ${String(id).padStart(4)}  ${centre.lon.toFixed(5)} ${centre.lat.toFixed(5)}  similarity ${similarity.toFixed(4)}`,
    )
  if (route) say(`  ${'error' in route ? `no route: ${route.error}` : wayOf(route)}`)
}

function wayOf({ seconds, kilometers }: { readonly seconds: number; readonly kilometers: number }): string {
  return `on foot ${kilometers.toFixed(2)} km in ${Math.round(seconds / 60)} min`
}

/** The error text of the host or of the function. supabase-js keeps the answer in its error's context. */
async function reasonOf(error: unknown): Promise<string> {
  const isAnswered = error instanceof FunctionsHttpError || error instanceof FunctionsRelayError
  return isAnswered ? (error.context as Response).text() : String(error)
}
