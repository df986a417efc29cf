import type { Database } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import { projectNotFound } from '../errors.ts'
import { Connection, type ProjectKeys, type ServiceSettings } from './connections.ts'

/** A project as a member of its organization sees it. */
export interface Project {
  readonly ref: string
  readonly name: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly createdAt: Date
  readonly connection: Connection
}

/** What an operator tells the console about a project of the shared pool. */
export interface ProjectConnection {
  readonly originUrl: string
  readonly anonKey?: string
  readonly serviceRoleKey?: string
}

interface ProjectRow {
  readonly ref: string
  readonly name: string
  readonly organization_id: string
  readonly organization_name: string
  readonly created_at: Date
  readonly sealed_connection: Buffer | null
  readonly sealed_services_key: Buffer | null
}

export interface ProjectsOptions {
  readonly database: Database
  readonly settings: ServiceSettings
  /** Local mode: the keys of the one project. */
  readonly local: { readonly ref: string; readonly keys: ProjectKeys } | null
  /** Shared mode: opens what the control database keeps sealed. */
  readonly sealer: Sealer | null
}

const SELECT = `
  select p.ref, coalesce(nullif(c.name, ''), p.ref) as name, o.id as organization_id, o.name as organization_name,
    p.created_at, c.sealed_connection, k.sealed_services_key
  from terrane.memberships m
  join terrane.organizations o on o.id = m.organization_id
  join terrane.projects p on p.organization_id = o.id
  left join terrane.console_projects c on c.ref = p.ref
  left join terrane.console_organizations k on k.organization_id = o.id
  where m.user_id = $1`

/** The projects of a user: those of the organizations the user is a member of, and no others. */
export class Projects {
  private readonly options: ProjectsOptions

  constructor(options: ProjectsOptions) {
    this.options = options
  }

  async list(userId: string): Promise<Project[]> {
    const { rows } = await this.options.database.query<ProjectRow>(`${SELECT} order by name, p.ref`, [userId])
    return rows.map((row) => this.toProject(row))
  }

  /** @throws PROJECT_NOT_FOUND, also for a project of another organization */
  async get(userId: string, ref: string): Promise<Project> {
    const { rows } = await this.options.database.query<ProjectRow>(`${SELECT} and p.ref = $2`, [userId, ref])
    const row = rows[0]
    if (!row) throw projectNotFound({ ref })
    return this.toProject(row)
  }

  private toProject(row: ProjectRow): Project {
    return {
      ref: row.ref,
      name: row.name,
      organization: { id: row.organization_id, name: row.organization_name },
      createdAt: row.created_at,
      connection: new Connection(this.options.settings, this.keysOf(row)),
    }
  }

  private keysOf(row: ProjectRow): ProjectKeys {
    const { local, sealer } = this.options
    if (local?.ref === row.ref) return local.keys
    const opened = (sealed: Buffer | null, context: string) => (sealed && sealer ? sealer.open(sealed, context) : null)
    const connection = opened(row.sealed_connection, connectionContext(row.ref)) as ProjectConnection | null
    return {
      originUrl: connection?.originUrl ?? null,
      anonKey: connection?.anonKey ?? null,
      serviceRoleKey: connection?.serviceRoleKey ?? null,
      servicesKey: opened(row.sealed_services_key, servicesKeyContext(row.organization_id)) as string | null,
    }
  }
}

/** What a sealed connection is bound to. */
export function connectionContext(ref: string): string {
  return `console project ${ref}`
}

/** What a sealed Services API key is bound to. */
export function servicesKeyContext(organizationId: string): string {
  return `console organization ${organizationId}`
}
