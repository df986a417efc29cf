import type { ProjectAddress } from './project-address.ts'
import { bytesOf } from './state.ts'

const ASK_MS = 10_000
const MAX_PROBLEM_BYTES = 65_536
/** Error codes of the API for a table that does not exist. */
const MISSING: ReadonlySet<unknown> = new Set(['PGRST205', '42P01'])

/** Whether a project has a table in schema public; also true when its API does not answer. */
export async function hasTable(
  { apiUrl, serviceKey: key }: Pick<ProjectAddress, 'apiUrl' | 'serviceKey'>,
  table: string,
): Promise<boolean> {
  try {
    const response = await fetch(`${apiUrl.replace(/\/$/, '')}/rest/v1/${table}?limit=0`, {
      headers: { apikey: key!, authorization: `Bearer ${key!}`, 'accept-profile': 'public' },
      redirect: 'manual',
      signal: AbortSignal.timeout(ASK_MS),
    })
    if (response.status !== 404 || !response.body) {
      await response.body?.cancel()
      return true
    }
    const problem = JSON.parse(String(await bytesOf(response.body, MAX_PROBLEM_BYTES))) as { code?: unknown } | null
    return !MISSING.has(problem?.code)
  } catch {
    return true
  }
}
