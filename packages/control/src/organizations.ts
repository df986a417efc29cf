import { uuidv7 } from '@terrane/core'
import type { Database } from '@terrane/database'
import { organizationAmbiguous, organizationNotFound } from './errors.ts'

/** The organization of a local stack. */
export const DEFAULT_ORGANIZATION = '00000000-0000-7000-8000-000000000000'

/** A tenant: it owns projects and keys, and people are members of it. */
export interface Organization {
  readonly id: string
  /** Display name, which need not be unique. */
  readonly name: string
  readonly createdAt: Date
}

const COLUMNS = 'id, name, created_at as "createdAt"'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The organizations of the control plane. */
export class Organizations {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Creates an organization; an existing one with this id is unchanged. */
  async create(name: string, id: string = uuidv7()): Promise<Organization> {
    await this.#database.query('insert into terrane.organizations (id, name) values ($1, $2) on conflict do nothing', [
      id,
      name,
    ])
    return this.find(id)
  }

  async list(): Promise<Organization[]> {
    const { rows } = await this.#database.query<Organization>(
      `select ${COLUMNS} from terrane.organizations order by created_at, id`,
    )
    return rows
  }

  /** Finds an organization by id or unique name. @throws ORGANIZATION_NOT_FOUND, ORGANIZATION_AMBIGUOUS */
  async find(organization: string): Promise<Organization> {
    const by = isUuid(organization) ? 'id' : 'name'
    const { rows } = await this.#database.query<Organization>(
      `select ${COLUMNS} from terrane.organizations where ${by} = $1 order by id limit 20`,
      [organization],
    )
    const [first, ...others] = rows
    if (!first) throw organizationNotFound({ organization })
    if (others.length > 0) throw organizationAmbiguous({ organization, ids: rows.map(({ id }) => id) })
    return first
  }
}

/** True for the text form of a UUID (RFC 9562), lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
