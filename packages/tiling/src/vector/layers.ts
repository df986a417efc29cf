import { badLayers } from './errors.ts'
import type { LayerStats } from './features/feature-intake.ts'
import { CLUSTER_ATTRIBUTES, type ClusterAggregate } from './points/cluster-record.ts'
import { checkZooms, MAX_ZOOM, type Zooms } from './world.ts'
import { guessMaxZoom } from './zoom-guess.ts'

/** Maximum number of layers; feature records store the number of their layer in five bits. */
const MAX_LAYERS = 32

/** One layer of an archive. */
export interface TilerLayer {
  readonly name: string
  /** Names of the attributes, in the order of the columns of the batches. */
  readonly attributes: readonly string[]
  /**
   * Lowest and highest zoom that show the layer, within 0 to 18; default: those of the archive. All features are shown
   * at the highest one.
   */
  readonly zooms?: Zooms
  /**
   * Factor by which the number of points decreases per zoom below the highest; points of a zoom also appear at higher
   * zooms. Default 1: keeps all points that differ by a pixel. Tippecanoe's own default is 2.5.
   */
  readonly dropRate?: number
  /**
   * Attribute that ranks features: the largest (or smallest) numbers stay when points are thinned or a tile would be
   * too large; other features are dropped first. By default position and size decide.
   */
  readonly rankBy?: { readonly attribute: string; readonly order?: 'largest' | 'smallest' }
  /** Replaces points near each other by one, up to a zoom; lines and polygons are not affected. */
  readonly cluster?: {
    /** Radius in pixels of a tile drawn 512 pixels wide, as MapLibre's `clusterRadius`; default 50. */
    readonly distance?: number
    /** The last zoom with clusters; default: one below the layer's highest. */
    readonly maxZoom?: number
    /** Minimum number of points of a cluster; default 2. */
    readonly minPoints?: number
    /** Attributes of clusters, aggregated from those of their points. */
    readonly aggregates?: readonly ClusterAggregate[]
  }
}

/** A layer with resolved zooms. */
export interface LayerPlan extends TilerLayer {
  readonly minZoom: number
  readonly maxZoom: number
  /** The last zoom with clusters; -1 for none. */
  readonly clusterZoom: number
  /** The attributes of the layer, and those of clusters if it has any. */
  readonly tileAttributes: readonly string[]
}

/**
 * Checks layers without building anything.
 *
 * @param zooms of the archive
 * @throws BAD_ZOOMS, BAD_LAYERS
 */
export function checkLayers(layers: readonly TilerLayer[], zooms: Zooms = 'auto'): void {
  if (layers.length === 0 || layers.length > MAX_LAYERS)
    throw badLayers({ problem: `an archive has 1 to ${MAX_LAYERS} layers, not ${layers.length}` })
  const names = new Set<string>()
  for (const layer of layers) {
    if (names.has(layer.name)) throw badLayers({ problem: `two layers are called ${layer.name}` })
    names.add(layer.name)
    const own = layer.zooms ?? zooms
    checkZooms(own)
    const { rankBy, cluster } = layer
    const used = [...(rankBy ? [rankBy.attribute] : []), ...(cluster?.aggregates ?? []).map((one) => one.attribute)]
    const missing = used.find((name) => !layer.attributes.includes(name))
    if (missing !== undefined)
      throw badLayers({ problem: `layer ${layer.name} has no attribute ${missing} to rank by or to aggregate` })
    const last = cluster?.maxZoom
    if (cluster && own !== 'auto' && own[0] === own[1])
      throw badLayers({ problem: `layer ${layer.name} has one zoom, so none for clusters` })
    if (last !== undefined && own !== 'auto' && (last < own[0] || last >= own[1]))
      throw badLayers({
        problem: `the clusters of layer ${layer.name} end at zoom ${last}: below its highest, ${own[1]}, and not below its lowest, ${own[0]}, is wanted`,
      })
    if (last !== undefined && last >= MAX_ZOOM)
      throw badLayers({ problem: `the clusters of layer ${layer.name} end at zoom ${last}, not below ${MAX_ZOOM}` })
  }
}

/**
 * The highest zoom of layers without a given one, by their data; null when all have one.
 *
 * @param stats of each layer
 */
export function guessLayerZoom(
  layers: readonly TilerLayer[],
  zooms: Zooms,
  stats: readonly LayerStats[],
): number | null {
  const guesses = layers.flatMap((layer, i) => {
    if ((layer.zooms ?? zooms) !== 'auto') return []
    const { spacing, segments } = stats[i]!
    return [guessMaxZoom(spacing, segments), (layer.cluster?.maxZoom ?? -1) + 1]
  })
  return guesses.length === 0 ? null : Math.max(...guesses)
}

/** Resolves zooms: `auto` becomes 0 to `autoMax`. */
export function planLayers(layers: readonly TilerLayer[], zooms: Zooms, autoMax: number | null): LayerPlan[] {
  return layers.map((layer) => {
    const own = layer.zooms ?? zooms
    const [minZoom, maxZoom] = own === 'auto' ? [0, autoMax!] : own
    const { cluster, attributes } = layer
    const clusterZoom = cluster ? Math.min(cluster.maxZoom ?? maxZoom - 1, maxZoom - 1) : -1
    const added = cluster ? CLUSTER_ATTRIBUTES.filter((name) => !attributes.includes(name)) : []
    return { ...layer, minZoom, maxZoom, clusterZoom, tileAttributes: [...attributes, ...added] }
  })
}
