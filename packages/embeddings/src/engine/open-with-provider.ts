import { type InferenceSession, listSupportedBackends } from 'onnxruntime-node'
import type { Provider, ProviderChoice, RefusedProvider } from './providers.ts'

/** A session and its execution provider. */
export interface OpenSession extends ProviderChoice {
  readonly session: InferenceSession
}

const WHY_LENGTH = 300

/**
 * Opens a session with the first available provider, or with the CPU. Operators that a device lacks run on the CPU.
 *
 * @param open makes a session with the given options
 * @throws what `open` throws for the CPU
 */
export async function openWithProvider(
  providers: readonly Provider[],
  open: (options: { readonly executionProviders: Provider[] }) => Promise<InferenceSession>,
): Promise<OpenSession> {
  const refused: RefusedProvider[] = []
  // The runtime silently ignores providers that its build does not include.
  const known = new Set(listSupportedBackends().map(({ name }) => name))
  for (const provider of providers) {
    if (provider === 'cpu') break
    if (!known.has(provider)) {
      refused.push({ provider, why: `the runtime for ${process.platform} ${process.arch} is built without it` })
      continue
    }
    try {
      return { session: await open({ executionProviders: [provider, 'cpu'] }), provider, refused }
    } catch (error) {
      refused.push({ provider, why: reasonOf(error) })
    }
  }
  return { session: await open({ executionProviders: ['cpu'] }), provider: 'cpu', refused }
}

/** The runtime's message, without the source position at its beginning. It does not say which library it lacks. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const why = message.replace(/^\/\S+:\d+ .*? was false\. /, '').slice(0, WHY_LENGTH)
  if (!message.endsWith('Failed to load shared library')) return why
  return `${why}: libonnxruntime_providers_*.so or a library of CUDA 12 or cuDNN 9 is missing, see docs/operations.md`
}
