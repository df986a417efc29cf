import type { Keys, Organizations, Projects } from '@terrane/control'
import { TerraneError } from '@terrane/core/errors'
import type { Sealer } from '@terrane/service'

/** The control plane of the environment. */
export interface ControlPlane {
  readonly organizations: Organizations
  readonly projects: Projects
  readonly keys: Keys
}

/** Opens the control plane for a command. @throws CONTROL_PLANE_MISSING, SECRETS_KEY_INVALID, DATABASE_UNAVAILABLE */
export async function withControlPlane<T>(work: (control: ControlPlane) => Promise<T>): Promise<T> {
  // oxlint-disable-next-line node/no-process-env -- A command line is configured by its environment.
  const { DATABASE_URL: url, TERRANE_SECRETS_KEY: secretsKey } = process.env
  if (!url) {
    throw new TerraneError('CONTROL_PLANE_MISSING', 'invalid', 'DATABASE_URL is not set', {
      hint: 'Set it to the PostgreSQL of the control plane.',
    })
  }
  // Imported here, so that other commands start sooner.
  const [control, { migrate, openDatabase }] = await Promise.all([
    import('@terrane/control'),
    import('@terrane/database'),
  ])
  const sealer = secretsKey ? await sealerOf(secretsKey) : null
  await using database = await openDatabase({ url, max: 2, applicationName: 'terrane cli' })
  await migrate(database, ['control'])
  return await work({
    organizations: new control.Organizations(database),
    projects: new control.Projects(database, sealer),
    keys: new control.Keys(database, sealer),
  })
}

async function sealerOf(text: string): Promise<Sealer> {
  const { createSealer, parseSecretsKey } = await import('@terrane/service')
  const key = parseSecretsKey(text)
  if (key) return createSealer(key)
  throw new TerraneError('SECRETS_KEY_INVALID', 'invalid', 'TERRANE_SECRETS_KEY is not 32 bytes as hex or base64')
}
