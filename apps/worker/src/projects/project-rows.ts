import type { Database } from '@terrane/database'
import type { JobScope, Owner } from '../queue/job-row.ts'

/** Condition of the rows of a project; $1 and $2 are its reference and its organization. */
export const IN_SCOPE = 'project_ref = $1 and organization_id is not distinct from $2::uuid'

/** Rows of projects. Column names become SQL, so use constants; a list would become an array instead of jsonb. */
export class ProjectRows<Row extends { readonly id: string }, Given extends Exclude<keyof Row, keyof Owner>> {
  readonly #database: Database
  readonly #table: string

  /** @param table a name that is part of this program */
  constructor(database: Database, table: 'schedules' | 'webhooks' | 'table_hooks') {
    this.#database = database
    this.#table = `terrane.${table}`
  }

  /** Inserts a row; null when the project already has `most` of them. */
  async insert(scope: JobScope, most: number, columns: Pick<Row, Given>): Promise<Row | null> {
    const { projectRef: project_ref, organizationId: organization_id, projectId: project_id } = scope
    const owner: Owner = { project_ref, organization_id, project_id }
    // The owner comes first for the numbers of IN_SCOPE's parameters, and last so that no column overrides it.
    const row = { ...owner, ...columns, ...owner }
    const values = Object.values(row)
    const { rows } = await this.#database.query<Row>(
      `insert into ${this.#table} (${Object.keys(row).join()}) select ${values.map((_, i) => `$${i + 1}`).join()}
       where (select count(*) from ${this.#table} where ${IN_SCOPE}) < $${values.length + 1} on conflict do nothing returning *`,
      [...values, most],
    )
    return rows[0] ?? null
  }

  async find({ projectRef, organizationId }: JobScope, id: string): Promise<Row | null> {
    const { rows } = await this.#database.query<Row>(`select * from ${this.#table} where ${IN_SCOPE} and id = $3`, [
      projectRef,
      organizationId,
      id,
    ])
    return rows[0] ?? null
  }

  /** All of a project, newest first. */
  async all({ projectRef, organizationId }: JobScope): Promise<Row[]> {
    const { rows } = await this.#database.query<Row>(
      `select * from ${this.#table} where ${IN_SCOPE} order by created_at desc, id desc`,
      [projectRef, organizationId],
    )
    return rows
  }

  /** Changes columns and returns the row; null when the row is gone. An undefined value changes nothing. */
  async update(id: string, columns: Partial<Pick<Row, Exclude<Given, 'id'>>>): Promise<Row | null> {
    const given = Object.entries(columns).filter(([, value]) => value !== undefined)
    const changes = given.map(([name], i) => `${name} = $${i + 2}, `)
    const { rows } = await this.#database.query<Row>(
      `update ${this.#table} set ${changes.join('')}updated_at = clock_timestamp() where id = $1 returning *`,
      [id, ...given.map(([, value]) => value)],
    )
    return rows[0] ?? null
  }

  async delete(id: string): Promise<void> {
    await this.#database.query(`delete from ${this.#table} where id = $1`, [id])
  }
}
