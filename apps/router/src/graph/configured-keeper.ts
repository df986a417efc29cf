import { dirname, join, resolve } from 'node:path'
import type { Network } from '@terrane/routing'
import { splitList } from '@terrane/core'
import { createGuardedFetch } from '@terrane/service'
import type { RouterConfig } from '../config.ts'
import { Extracts } from './extracts.ts'
import { GraphKeeper, type KeeperOptions } from './keeper.ts'

type Use = Pick<KeeperOptions, 'build' | 'watchMs' | 'logger' | 'onOutcome'> & {
  readonly serve: (network: Network, graphPath: string) => Promise<void>
}

/** A keeper for the graph of the settings. */
export function configuredKeeper(config: RouterConfig, { serve, ...use }: Use): GraphKeeper {
  const graphPath = resolve(config.TERRANE_ROUTING_GRAPH)
  const entries = splitList(config.TERRANE_ROUTING_OSM)
  const memory = config.graphMemory
  const extracts = new Extracts({
    entries,
    folder: join(dirname(graphPath), 'downloads'),
    fetch: createGuardedFetch({
      allowHosts: splitList(config.TERRANE_FETCH_ALLOW_HOSTS),
      allowHttp: config.TERRANE_FETCH_ALLOW_HTTP,
      userAgent: 'Terrane (+https://github.com/terrane)',
    }),
    logger: use.logger,
    maxBytes: config.maxExtractBytes,
    timeoutMs: config.downloadTimeoutMs,
  })
  return new GraphKeeper({
    ...use,
    extracts: entries.length > 0 ? extracts : null,
    graphPath,
    mapped: memory === 'auto' ? null : memory === 'mapped',
    choices: {
      drivingSide: config.TERRANE_ROUTING_DRIVING_SIDE,
      construction: config.construction,
    },
    serve: (network) => serve(network, graphPath),
  })
}
