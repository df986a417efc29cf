import { splitList } from '@terrane/core'

/** Settings for requests from outside: trusted proxies, the key for metrics, and rate limits. */
export interface EdgeSettings {
  readonly trustedProxies: readonly string[]
  readonly metricsKey: string | null
  readonly ratePerAddress: number
  readonly ratePerKey: number
}

/** Settings without trusted proxies, metrics and rate limits. */
export const BARE_EDGE: EdgeSettings = { trustedProxies: [], metricsKey: null, ratePerAddress: 0, ratePerKey: 0 }

/** Reads these settings from the variables that every app has. */
export function readEdge(config: {
  readonly TERRANE_TRUSTED_PROXIES: string
  readonly TERRANE_METRICS_KEY?: string
  readonly rates: { readonly perAddress: number; readonly perKey: number }
}): EdgeSettings {
  return {
    trustedProxies: splitList(config.TERRANE_TRUSTED_PROXIES),
    metricsKey: config.TERRANE_METRICS_KEY ?? null,
    ratePerAddress: config.rates.perAddress,
    ratePerKey: config.rates.perKey,
  }
}
