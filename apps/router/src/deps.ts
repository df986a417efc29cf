import { stat } from 'node:fs/promises'
import { factsOf } from '@terrane/routing'
import { splitList } from '@terrane/core'
import { Counter, createLogger, createRegistry, Gauge, onScrape, type Registry, readEdge } from '@terrane/service'
import type { AppDeps } from './app.ts'
import type { RouterConfig } from './config.ts'
import { openDoor } from './door.ts'
import { Engine } from './engine/engine.ts'
import { buildInProcess, type BuildGraph } from './graph/build.ts'
import { configuredKeeper } from './graph/configured-keeper.ts'
import type { GraphKeeper } from './graph/keeper.ts'
import { threadsGiven } from './threads.ts'

/** The open router; disposing of it closes everything in reverse order. */
export interface Deps extends AppDeps, AsyncDisposable {
  readonly engine: Engine
  readonly keeper: GraphKeeper
}

/**
 * Opens the engine and begins to load or build its graph.
 *
 * @param build builds the graph; tests of other parts replace it
 * @throws EXTRACT_MISSING, NOTHING_TO_SERVE when configured files are not there
 */
export async function openDeps(config: RouterConfig, build: BuildGraph = buildInProcess): Promise<Deps> {
  await using opening = new AsyncDisposableStack()
  const logger = createLogger({ name: 'router', level: config.LOG_LEVEL })
  const registry = createRegistry('router')
  const counters = count(registry)
  const engine = opening.use(
    new Engine({
      threads: config.TERRANE_ROUTING_THREADS || threadsGiven(),
      limits: config.limits,
      costings: config.costings,
      search: config.search,
      actions: config.actions,
      queue: config.queue,
      timeoutMs: config.timeoutMs,
      logger,
      onThreadLost: (reason) => counters.threads.inc({ reason }),
    }),
  )
  const keeper = opening.use(
    configuredKeeper(config, {
      build,
      watchMs: config.watchMs,
      logger,
      serve: async (network, graphPath) => engine.swap(network, (await stat(graphPath)).mtime),
      onOutcome: (outcome) => counters.graphs.inc({ outcome }),
    }),
  )
  observe(registry, engine)
  await keeper.start()
  const refresh = () => keeper.refresh()
  process.on('SIGHUP', refresh)
  opening.defer(() => void process.off('SIGHUP', refresh))

  const door = opening.use(openDoor(config, logger))
  const all = opening.move()
  return {
    logger,
    registry,
    edge: readEdge(config),
    verify: door.verify,
    engine,
    actions: config.actions,
    keeper,
    corsOrigins: splitList(config.TERRANE_CORS_ORIGINS),
    readiness: { graph: graphCheck(engine, keeper) },
    bodyLimit: config.bodyLimitBytes,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** `ok` when there is a graph, however old; down when no graph could be made; `starting` before the first result. */
function graphCheck(engine: Engine, keeper: GraphKeeper): AppDeps['readiness'][string] {
  return async () => {
    if (engine.network !== null) return 'ok'
    if (keeper.failure !== null) throw keeper.failure
    return 'starting'
  }
}

function count(registry: Registry) {
  return {
    graphs: new Counter({
      name: 'routing_graphs_total',
      help: 'Attempts to bring a graph into service, by result.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    threads: new Counter({
      name: 'routing_threads_lost_total',
      help: 'Threads that were replaced because a request took too long or they ended.',
      labelNames: ['reason'],
      registers: [registry],
    }),
  }
}

function observe(registry: Registry, engine: Engine): void {
  const gauge = (name: string, help: string, read: () => number) => {
    const made = new Gauge({ name, help, registers: [registry] })
    onScrape(made, () => made.set(read()))
  }
  const facts = () => (engine.network === null ? null : factsOf(engine.network))
  gauge('routing_graph_nodes', 'Nodes of the graph in service.', () => facts()?.nodes ?? 0)
  gauge('routing_graph_edges', 'Directed edges of the graph in service.', () => facts()?.edges ?? 0)
  gauge('routing_graph_bytes', 'Size of the graph in service.', () => facts()?.bytes ?? 0)
  gauge('routing_waiting_requests', 'Requests that wait for a thread.', () => engine.waiting)
}
