import { splitList } from '@terrane/core'

/** The edge of an app, from its environment. */
export interface EdgeSettings {
  readonly trustedProxies: readonly string[]
  readonly metricsKey: string | null
  readonly ratePerAddress: number
  readonly ratePerKey: number
}

/** An edge that trusts no proxy, shows no metrics and limits no rates. */
export const BARE_EDGE: EdgeSettings = { trustedProxies: [], metricsKey: null, ratePerAddress: 0, ratePerKey: 0 }

/** The edge as the settings of every app say. */
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
