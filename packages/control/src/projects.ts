import { PROJECT_REF_PATTERN } from '@terrane/contracts/names'
import { uuidv7 } from '@terrane/core'
import type { Principal } from '@terrane/auth'
import type { Database } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import type { Credentials } from './credentials.ts'
import { deleteProject, type RemainingHooks } from './delete-project.ts'
import {
  credentialsUnreadable,
  projectAmbiguous,
  projectExists,
  projectNotFound,
  refInvalid,
  secretsKeyNeeded,
} from './errors.ts'
import { endCredentialKeys, registerCredentialKeys } from './credential-keys.ts'
import { isUuid } from './organizations.ts'

/** A registered project. All data about it are stored under its id or in its folder. */
export interface Project {
  readonly id: string
  /** Unique within the organization. */
  readonly ref: string
  readonly organizationId: string
  readonly organizationName: string
  /** Name for people; default: the reference. */
  readonly name: string
  /** Label of its host name on a shared functions host: `{hostLabel}.{domain}`. */
  readonly hostLabel: string
  /** Folder of its objects and deployed code in the storage of a pool. */
  readonly folder: string
  readonly createdAt: Date
}

export interface NewProject {
  readonly organizationId: string
  readonly ref: string
  readonly name?: string
  readonly credentials?: Credentials
}

/** A project with its credentials. */
export interface ReachableProject extends Project {
  readonly credentials: Credentials
  /** Key of its organization for the shared services; null when none was issued. */
  readonly servicesKey: string | null
}

interface SealedRow extends Project {
  readonly sealed: Buffer | null
  readonly sealed_services_key: Buffer | null
  readonly unmerged: string | null
}

const SELECT = `select p.id, p.ref, p.organization_id as "organizationId", o.name as "organizationName",
    coalesce(nullif(p.name, ''), p.ref) as name, p.host_label as "hostLabel", p.folder, p.created_at as "createdAt"`
const FROM = 'from terrane.projects p join terrane.organizations o on o.id = p.organization_id'
const SEALED = `${SELECT}, p.sealed_credentials as sealed, o.sealed_services_key,
    (select min(u.part) from terrane.unmerged_credentials u where u.project_id = p.id) as unmerged ${FROM}`

const REF = new RegExp(PROJECT_REF_PATTERN)

/** The projects of the control plane, and the access of callers to them. */
export class Projects {
  readonly #database: Database
  readonly #sealer: Sealer | null

  constructor(database: Database, sealer: Sealer | null) {
    this.#database = database
    this.#sealer = sealer
  }

  /** Registers a project with its keys. @throws PROJECT_EXISTS, PROJECT_REF_INVALID, SECRETS_KEY_MISSING */
  async create({ organizationId, ref, name = '', credentials }: NewProject): Promise<Project> {
    if (!REF.test(ref)) throw refInvalid({ ref })
    const id = uuidv7()
    const sealed = credentials ? this.#seal(credentials, id) : null
    const folder = `org.${organizationId}/${id}`
    await this.#database.transaction(async (session) => {
      // The shorter host name goes to the first project that asks for it.
      const { rowCount } = await session.query(
        `insert into terrane.projects (id, organization_id, ref, name, host_label, folder, sealed_credentials)
         select $1, $2, $3, $4, case when exists (select 1 from terrane.projects where host_label = $3) then $5 else $3 end, $6, $7
         on conflict (organization_id, ref) do nothing`,
        [id, organizationId, ref, name, `${ref.slice(0, 50)}-${id.slice(-12)}`, folder, sealed],
      )
      if (rowCount !== 1) throw projectExists({ ref })
      if (credentials) await registerCredentialKeys(session, { id, organizationId }, credentials)
    })
    return this.get(id)
  }

  /** @throws PROJECT_NOT_FOUND */
  async get(id: string): Promise<Project> {
    const found = isUuid(id) ? await this.#one(`${SELECT} ${FROM} where p.id = $1`, [id]) : null
    if (!found) throw projectNotFound({ ref: id })
    return found
  }

  /** A project of an organization, or null. */
  find(organizationId: string, ref: string): Promise<Project | null> {
    return this.#one(`${SELECT} ${FROM} where p.organization_id = $1 and p.ref = $2`, [organizationId, ref])
  }

  /** The project of an id, or of a reference that is unique. @throws PROJECT_NOT_FOUND, PROJECT_AMBIGUOUS */
  async named(name: string, organizationId?: string): Promise<Project> {
    refuseNoName(name)
    const { rows } = await this.#database.query<Project>(
      `${SELECT} ${FROM} where (p.ref = $1 or p.id::text = $1) and ($2::uuid is null or p.organization_id = $2) order by p.id limit 20`,
      [name, organizationId ?? null],
    )
    return single(name, rows)
  }

  /** All projects, or those of an organization, by reference. */
  async list(organizationId?: string): Promise<Project[]> {
    const { rows } = await this.#database.query<Project>(
      `${SELECT} ${FROM} where $1::uuid is null or p.organization_id = $1 order by o.name, p.ref, p.id`,
      [organizationId ?? null],
    )
    return rows
  }

  /**
   * The project that a caller may reach under a reference: its own for a key of a project, any project of its
   * organization for a services key. Other projects count as not found.
   *
   * @throws PROJECT_NOT_FOUND
   */
  async reachable(principal: Principal, ref: string): Promise<Project | null> {
    const { organizationId } = principal
    if (organizationId === null) throw projectNotFound({ ref })
    refuseNoName(ref)
    const project = await this.find(organizationId, ref)
    if (principal.projectId !== null && project?.id !== principal.projectId) throw projectNotFound({ ref })
    return project
  }

  /** The projects of the organizations that a user is a member of. */
  async ofMember(userId: string): Promise<ReachableProject[]> {
    return this.#open(`join terrane.memberships m on m.organization_id = o.id where m.user_id = $1`, [userId])
  }

  /** One of {@link ofMember}, by reference or id. @throws PROJECT_NOT_FOUND for others' ones too, PROJECT_AMBIGUOUS */
  async ofMemberNamed(userId: string, name: string): Promise<ReachableProject> {
    refuseNoName(name)
    const where = `join terrane.memberships m on m.organization_id = o.id
      where m.user_id = $1 and (p.ref = $2 or p.id::text = $2)`
    return single(name, await this.#open(where, [userId, name]))
  }

  /** All projects with their credentials, for hosts that serve all of them. */
  allReachable(onUnreadable: (error: unknown) => void): Promise<ReachableProject[]> {
    return this.#open('', [], onUnreadable)
  }

  /**
   * A project with its credentials, for a page that needs no key.
   *
   * @throws PROJECT_NOT_FOUND, CREDENTIALS_UNREADABLE, SECRETS_KEY_MISSING
   */
  async reach(id: string): Promise<ReachableProject> {
    const [project] = isUuid(id) ? await this.#open('where p.id = $1', [id]) : []
    if (!project) throw projectNotFound({ ref: id })
    return project
  }

  /** @throws CREDENTIALS_UNREADABLE, SECRETS_KEY_MISSING */
  async credentials(id: string): Promise<Credentials> {
    return (await this.reach(id)).credentials
  }

  /** Replaces credentials, name or both. Keys that are among them no longer are accepted for `overlapMs` more. */
  async set(
    id: string,
    change: { readonly name?: string; readonly credentials?: Credentials },
    overlapMs: number,
  ): Promise<void> {
    const { name, credentials } = change
    const { organizationId } = await this.get(id)
    await this.#database.transaction(async (session) => {
      if (name !== undefined)
        await session.query('update terrane.projects set name = $2, updated_at = clock_timestamp() where id = $1', [
          id,
          name,
        ])
      if (!credentials) return
      await session.query(
        'update terrane.projects set sealed_credentials = $2, updated_at = clock_timestamp() where id = $1',
        [id, this.#seal(credentials, id)],
      )
      await session.query('delete from terrane.unmerged_credentials where project_id = $1', [id])
      await endCredentialKeys(session, id, credentials, overlapMs)
      await registerCredentialKeys(session, { id, organizationId }, credentials)
    })
  }

  /**
   * Deletes a project with its keys, credentials, functions, the records of its jobs and the triggers of its table
   * hooks. Objects in storage and tables are kept.
   *
   * @returns the hooks whose triggers could not be removed from its database; null when there are none
   * @throws PROJECT_BUSY while jobs have not ended
   */
  async delete(id: string): Promise<RemainingHooks | null> {
    const project = await this.get(id)
    return deleteProject(this.#database, project, async () => (await this.credentials(id)).databaseUrl)
  }

  async #one(statement: string, values: readonly unknown[]): Promise<Project | null> {
    return (await this.#database.query<Project>(statement, values)).rows[0] ?? null
  }

  async #open(
    where: string,
    values: readonly unknown[],
    onUnreadable?: (error: unknown) => void,
  ): Promise<ReachableProject[]> {
    const { rows } = await this.#database.query<SealedRow>(`${SEALED} ${where} order by p.ref, p.id`, values)
    return rows.flatMap((row) => {
      try {
        return [this.#opened(row)]
      } catch (error) {
        if (!onUnreadable) throw error
        onUnreadable(error)
        return []
      }
    })
  }

  #opened({ sealed, sealed_services_key: key, unmerged, ...project }: SealedRow): ReachableProject {
    if (unmerged !== null) throw credentialsUnreadable({ ref: project.ref, part: unmerged })
    const credentials = sealed
      ? (this.#need('credentials').open(sealed, credentialContext(project.id)) as Credentials)
      : {}
    const servicesKey = key
      ? (this.#need('keys').open(key, servicesKeyContext(project.organizationId)) as string)
      : null
    return { ...project, credentials, servicesKey }
  }

  #seal(credentials: Credentials, id: string): Buffer {
    return this.#need('credentials').seal(credentials, credentialContext(id))
  }

  #need(what: string): Sealer {
    if (!this.#sealer) throw secretsKeyNeeded({ for: what })
    return this.#sealer
  }
}

/** Additional data (AAD) of a project's sealed credentials. */
function credentialContext(id: string): string {
  return `project ${id}`
}

/** Additional data (AAD) of an organization's sealed services key. */
export function servicesKeyContext(organizationId: string): string {
  return `console organization ${organizationId}`
}

/** Text that is neither a reference nor an id is not looked up. */
function refuseNoName(name: string): void {
  if (!REF.test(name) && !isUuid(name)) throw projectNotFound({ ref: name.slice(0, 100) })
}

function single<P extends Project>(name: string, projects: readonly P[]): P {
  const [first, ...others] = projects
  if (!first) throw projectNotFound({ ref: name })
  if (others.length > 0) throw projectAmbiguous({ ref: name, ids: projects.map(({ id }) => id) })
  return first
}
