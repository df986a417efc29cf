/**
 * A worker and the kind of key that it accepts: a local one the project's service-role key, a shared pool the Services
 * API key.
 */
export interface WorkerBase {
  readonly url: string
  readonly pool: 'local' | 'shared'
}

/** Settings that determine the worker of the console. */
export interface WorkerSettings {
  readonly CONSOLE_WORKER_BASE_LOCAL?: string | undefined
  readonly CONSOLE_WORKER_BASE_SHARED?: string | undefined
  readonly TERRANE_SERVICES_URL?: string | undefined
  readonly TERRANE_MODE: 'local' | 'shared'
}

/** Address of a worker of the local stack. */
const LOCAL_WORKER = 'http://127.0.0.1:3333'

/**
 * The worker's base address in the documented order: local override, shared-pool override, environment default (the
 * local worker in local mode, else the shared pool). The former `{origin}/worker` of a project is not used. Null in a
 * shared environment without the address of a pool.
 */
export function workerBase(settings: WorkerSettings): WorkerBase | null {
  const {
    CONSOLE_WORKER_BASE_LOCAL: local,
    CONSOLE_WORKER_BASE_SHARED: shared,
    TERRANE_SERVICES_URL: services,
  } = settings
  if (local) return { url: trimmed(local), pool: 'local' }
  if (shared) return { url: trimmed(shared), pool: 'shared' }
  if (settings.TERRANE_MODE === 'local') return { url: LOCAL_WORKER, pool: 'local' }
  return services ? { url: `${trimmed(services)}/worker`, pool: 'shared' } : null
}

/** A base address without slashes at its end. */
export function trimmed(url: string): string {
  return url.replace(/\/+$/, '')
}
