import { ask, type Connection } from '../connection.ts'

export interface LogLine {
  readonly at: string
  readonly level: string
  readonly event: string
  readonly code: string | null
  readonly message: string
}

/** All lines of the log of a job. */
export async function readLog(connection: Connection, task: string, id: string): Promise<LogLine[]> {
  const lines: LogLine[] = []
  for (let after = 0; ;) {
    const page = (await ask(connection, `/worker/jobs/${task}/${id}/log?after=${after}${ofProject(connection)}`)) as {
      data: LogLine[]
      last: number
      more: boolean
    }
    lines.push(...page.data)
    if (!page.more) return lines
    after = page.last
  }
}

/** The parameter of a query that names the project of a connection, if it has one. */
export function ofProject({ projectRef }: Connection): string {
  return projectRef === undefined ? '' : `&projectRef=${encodeURIComponent(projectRef)}`
}
