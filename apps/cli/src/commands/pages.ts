import { ask, connect, type Connection } from '../connection.ts'
import { printOne } from '../output.ts'
import type { ProjectOptions } from '../run-task.ts'
import { ofProject } from './job-log.ts'

/** The query that names the project of a connection, if it has one. */
export function projectQuery(connection: Connection): string {
  return ofProject(connection).replace('&', '?')
}

/** All records of a list of the worker, page by page. */
export async function pagesOf<T>(connection: Connection, path: string): Promise<T[]> {
  const found: T[] = []
  for (let cursor: string | null = null; ;) {
    const query = new URLSearchParams(projectQuery(connection))
    if (cursor !== null) query.set('cursor', cursor)
    const page = (await ask(connection, `${path}?${query.toString()}`)) as { data: T[]; next_cursor?: string | null }
    found.push(...page.data)
    cursor = page.next_cursor ?? null
    if (cursor === null) return found
  }
}

/** An action that changes a record of a list of the worker and prints its id; without a change it deletes it. */
export function onRecord(
  path: string,
  change: { readonly paused: boolean } | null,
): (id: string, options: ProjectOptions) => Promise<void> {
  return async (id, { profile, json }) => {
    const connection = await connect(profile)
    const request = change ? { method: 'PATCH', body: JSON.stringify(change) } : { method: 'DELETE' }
    await ask(connection, `${path}/${encodeURIComponent(id)}${projectQuery(connection)}`, request)
    printOne({ id, ...change }, id, json)
  }
}
