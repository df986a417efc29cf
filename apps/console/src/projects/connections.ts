import { serviceOff } from '../errors.ts'
import { trimmed, workerBase, type WorkerSettings } from './worker-base.ts'

/** Keys and origin of a project's services. They stay in the console's server, except when a member asks for them. */
export interface ProjectKeys {
  /** The project's origin: rest, storage and functions. */
  readonly originUrl: string | null
  /** URL of that origin for browsers. */
  readonly publicUrl: string | null
  readonly anonKey: string | null
  readonly serviceRoleKey: string | null
  /** The organization's Services API key. */
  readonly servicesKey: string | null
}

/** A service of a project: its base address and the key to send. */
export interface Endpoint {
  readonly service: string
  readonly base: string
  readonly key: string
}

export interface ServiceSettings extends WorkerSettings {
  readonly TERRANE_ROUTER_URL?: string | undefined
  readonly TERRANE_FUNCTIONS_URL?: string | undefined
}

/**
 * Chooses address and key for every request of the console. Members of the organization administer the project, so
 * requests that list or read on their behalf use the service role. Requests that act as a client of the project use
 * anon. Each method throws SERVICE_OFF when a part is not configured.
 */
export class Connection {
  readonly #settings: ServiceSettings
  readonly #keys: ProjectKeys

  constructor(settings: ServiceSettings, keys: ProjectKeys) {
    this.#settings = settings
    this.#keys = keys
  }

  /** The job API: service-role key for a local worker, Services API key for a shared pool. */
  worker(): Endpoint {
    const service = 'worker'
    const worker = workerBase(this.#settings)
    if (!worker) throw serviceOff({ service, missing: 'CONSOLE_WORKER_BASE_SHARED or TERRANE_SERVICES_URL' })
    const key =
      worker.pool === 'local'
        ? need(this.#keys.serviceRoleKey, service, 'the service-role key of the project')
        : need(this.#keys.servicesKey, service, 'the Services API key of the organization')
    return { service, base: worker.url, key }
  }

  /** Rest and storage of the project, as the service role: every embedding table and every layer is shown. */
  data(): Endpoint {
    const service = 'project API'
    return {
      service,
      base: trimmed(need(this.#keys.originUrl, service, 'the address of the project')),
      key: need(this.#keys.serviceRoleKey, service, 'the service-role key of the project'),
    }
  }

  /** URL of the project for browsers, without a slash at its end. */
  publicBase(): string {
    return trimmed(need(this.#keys.publicUrl, 'project API', 'the address of the project'))
  }

  /** Address of the routing engine, with the Services API key. */
  routing(): Endpoint {
    const service = 'routing engine'
    const { TERRANE_ROUTER_URL: own, TERRANE_SERVICES_URL: services } = this.#settings
    const host = need(own ?? services ?? null, service, 'TERRANE_ROUTER_URL or TERRANE_SERVICES_URL')
    return {
      service,
      base: `${trimmed(host)}/routing-engine/v1`,
      key: need(this.#keys.servicesKey, service, 'the Services API key of the organization'),
    }
  }

  /** Function calls: as anon, like a client of the project, or as the service role when asked to. */
  functionCalls(role: 'anon' | 'service'): Endpoint {
    const service = 'functions host'
    return {
      service,
      base: `${trimmed(need(this.#keys.originUrl, service, 'the address of the project'))}/functions/v1`,
      key:
        role === 'anon'
          ? need(this.#keys.anonKey, service, 'the anon key of the project')
          : need(this.#keys.serviceRoleKey, service, 'the service-role key of the project'),
    }
  }

  /** The deploy API: lists, versions and logs of functions, which the host gives to the service role only. */
  functionsControl(): Endpoint {
    const service = 'functions host'
    return {
      service,
      base: trimmed(need(this.#settings.TERRANE_FUNCTIONS_URL ?? null, service, 'TERRANE_FUNCTIONS_URL')),
      key: need(this.#keys.serviceRoleKey, service, 'the service-role key of the project'),
    }
  }

  /** Keys for a member who accesses the project from other programs; null for parts that are not configured. */
  shown(): ProjectKeys {
    return this.#keys
  }

  /** Which services are configured, so that the page can report a missing one. */
  configured(): Readonly<Record<'worker' | 'data' | 'routing' | 'functions', boolean>> {
    return {
      worker: has(() => this.worker()),
      data: has(() => this.data()),
      routing: has(() => this.routing()),
      functions: has(() => this.functionsControl()),
    }
  }
}

function need(value: string | null, service: string, missing: string): string {
  if (value === null) throw serviceOff({ service, missing })
  return value
}

function has(open: () => Endpoint): boolean {
  try {
    open()
    return true
  } catch {
    return false
  }
}
