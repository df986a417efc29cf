import { compile } from '@fastify/proxy-addr'
import { clientAddress, type EdgeSettings, type Logger } from '@terrane/service'
import type { FunctionsConfig } from '../config.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { Functions } from '../functions.ts'
import type { LogBook } from '../observe/log-book.ts'
import type { Observer } from '../observe/observer.ts'
import type { Projects } from '../projects/project.ts'
import { Admission } from './admission.ts'
import { createAuthenticator } from './authenticator.ts'
import type { Depths } from './depth.ts'
import { Gateway, type FunctionLookup } from './gateway.ts'
import { Heads } from './heads.ts'
import { Bodies } from './invocation/bodies.ts'
import type { Invocation } from './invocation/invocation.ts'

interface Parts {
  readonly logger: Logger
  readonly logBook: LogBook
  readonly observer: Observer
  readonly projects: Projects
  readonly depths: Depths
  readonly edge: EdgeSettings
}

/** Makes the gateway of a host, and the memory for the bodies of its requests, which is closed after it. */
export function openGateway(
  config: FunctionsConfig,
  { logger, logBook, observer, projects, depths, edge }: Parts,
  functions: Functions,
  find: FunctionLookup['find'],
): { readonly gateway: Gateway; readonly bodies: Bodies } {
  const lookup: FunctionLookup = {
    projectOf: (request) => projects.idOf(request.headers.host),
    find,
    onFailed: (error, name, requestId) =>
      logger.error({ err: error, function: name, requestId }, 'function could not be loaded'),
  }
  const admission = new Admission({
    authenticate: createAuthenticator((ref) => projects.get(ref)!.verify, edge),
    depths,
    onError: (error, version, requestId) =>
      logger.error({ err: error, ...labelsOf(version), requestId }, 'authentication is not possible'),
  })
  const heads = new Heads({
    trusts: trustedBy(edge.trustedProxies),
    clientOf: clientAddress(edge.trustedProxies),
    // On a shared host each project has a host name to itself.
    ownOrigin: config.TERRANE_MODE === 'shared' || config.TERRANE_FUNCTIONS_OWN_ORIGIN,
    resourceLimitStatus: config.limitStatus,
    onNarrowed: (version, text) => logBook.event('warn', version, text),
  })
  const bodies = new Bodies(config.bufferBytes, config.bodyTimeoutMs)
  const events = {
    finished: (invocation: Invocation) => observer.called(invocation),
    invalid: ({ functionVersion, requestId }: Invocation, detail: string) =>
      logger.warn({ ...labelsOf(functionVersion), requestId, detail }, 'invalid response'),
  }
  return { gateway: new Gateway(lookup, functions, { admission, bodies, heads, events }), bodies }
}

/** Fields that identify the function of a log line. */
function labelsOf({ project, name, version }: FunctionVersion): object {
  return { project, function: name, version }
}

function trustedBy(proxies: readonly string[]): (address: string) => boolean {
  if (proxies.length === 0) return () => false
  const isProxy = compile([...proxies])
  return (address) => isProxy(address, 0)
}
