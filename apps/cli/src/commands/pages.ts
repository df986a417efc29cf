import { ask, type Connection } from '../connection.ts'
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
