import { Path } from '@terrane/core'
import type { FeatureReader } from '../features/feature-record.ts'
import { PLACE_ORDER, placeOf } from '../features/place.ts'
import { POINT } from '../features/shape.ts'
import type { Shape } from '../features/shape.ts'
import type { LayerPlan } from '../layers.ts'
import type { Slicer } from '../tile/slicer.ts'
import { unitAt } from '../world.ts'
import type { ClusterRecords } from './cluster-record.ts'
import { PointClusters } from './point-clusters.ts'
import { RankedPoints } from './ranked-points.ts'

/** Below the highest zoom, one point per cell is shown; a tile has 2^9 cells a side. */
const POINT_CELL_BITS = 9
/** Defaults of MapLibre. */
const CLUSTER_DISTANCE = 50
const CLUSTER_POINTS = 2

/**
 * Shows the points of a layer at each zoom: all of them at the highest. Below it, drop rate, rank and one point per
 * pixel cell reduce them. Clusters are shown up to the last zoom with clusters. Points must be sorted by their place.
 * Not re-entrant.
 */
export class PointCutter {
  readonly #slicer: Slicer
  readonly #maxZoom: number
  /** The lowest zoom that shows single points. */
  readonly #minZoom: number
  readonly #dropRate: number
  readonly #path = new Path()
  /** Number of points that were passed down to each zoom. */
  readonly #came: Float64Array
  /** The cell of the last point shown, per zoom. */
  readonly #lastCell: Float64Array
  readonly #rankOf: ((feature: FeatureReader) => number) | null
  readonly #ranked: RankedPoints | null
  readonly #clusters: PointClusters | null
  readonly #aggregated: readonly number[]

  constructor(plan: LayerPlan, slicer: Slicer) {
    const { name, maxZoom, minZoom, clusterZoom, dropRate = 1, cluster } = plan
    this.#slicer = slicer
    this.#maxZoom = maxZoom
    this.#minZoom = Math.max(minZoom, clusterZoom + 1)
    this.#dropRate = dropRate
    this.#came = new Float64Array(maxZoom + 1)
    this.#lastCell = new Float64Array(maxZoom + 1).fill(-1)
    this.#rankOf = rankingOf(plan)
    this.#ranked =
      this.#rankOf &&
      new RankedPoints({
        minZoom: this.#minZoom,
        maxZoom,
        dropRate,
        cellOf,
        show: ({ xy, address }, zoom) => this.#show(xy, xy.length / 2, address, zoom),
      })
    const aggregates = cluster?.aggregates ?? []
    this.#aggregated = aggregates.map(({ attribute }) => plan.attributes.indexOf(attribute))
    this.#clusters =
      cluster && clusterZoom >= minZoom
        ? new PointClusters({
            layer: name,
            minZoom,
            maxZoom: clusterZoom,
            distance: cluster.distance ?? CLUSTER_DISTANCE,
            minPoints: cluster.minPoints ?? CLUSTER_POINTS,
            aggregates,
          })
        : null
  }

  /** Shows the points of one feature, whose record is opened. */
  cut(shape: Shape, feature: FeatureReader, address: number): void {
    if (this.#clusters) {
      const values = this.#aggregated.map((attribute) => feature.numberOf(attribute))
      for (let i = 0; i < shape.size; i++) this.#clusters.add(shape.xy[2 * i]!, shape.xy[2 * i + 1]!, address, values)
    }
    if (!this.#ranked) return this.#thin(shape, address)
    const rank = this.#rankOf!(feature)
    this.#ranked.add({ address, rank, place: placeOf(shape), xy: shape.xy.slice(0, 2 * shape.size) })
  }

  /** Shows the remaining points, and the clusters, which become records. */
  finish(records: ClusterRecords): void {
    this.#ranked?.finish()
    const xy = new Int32Array(2)
    this.#clusters?.show(records, (x, y, address, zoom) => {
      xy[0] = Math.round(x)
      xy[1] = Math.round(y)
      this.#show(xy, 1, address, zoom)
    })
  }

  #thin(shape: Shape, address: number): void {
    const place = placeOf(shape)
    for (let zoom = this.#maxZoom; zoom >= this.#minZoom; zoom--) {
      if (zoom < this.#maxZoom && !this.#isKept(zoom)) return
      if (zoom < this.#maxZoom && shape.size === 1) {
        const cell = cellOf(place, zoom)
        if (this.#lastCell[zoom] === cell) continue
        this.#lastCell[zoom] = cell
      }
      this.#show(shape.xy, shape.size, address, zoom)
    }
  }

  /**
   * Whether the next point that is passed down to a zoom stays. Points are sorted along a Hilbert curve, so the kept
   * ones have the same spatial distribution as all of them.
   */
  #isKept(zoom: number): boolean {
    const before = this.#came[zoom]!++
    return Math.floor((before + 1) / this.#dropRate) > Math.floor(before / this.#dropRate)
  }

  #show(xy: Int32Array, size: number, address: number, zoom: number): void {
    const path = this.#path
    const unit = unitAt(zoom)
    path.clear()
    path.ensure(size)
    for (let i = 0; i < size; i++) path.push(round(xy[2 * i]!, unit), round(xy[2 * i + 1]!, unit))
    path.endPart(0, 1)
    path.measure()
    this.#slicer.slice(path, POINT, zoom, address)
  }
}

/** Rank of a feature of a layer, larger is more important; null without a ranking. NaN ranks last. */
export function rankingOf({ rankBy, attributes }: LayerPlan): ((feature: FeatureReader) => number) | null {
  if (!rankBy) return null
  const attribute = attributes.indexOf(rankBy.attribute)
  const sign = rankBy.order === 'smallest' ? -1 : 1
  return (feature) => {
    const value = feature.numberOf(attribute)
    return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : sign * value
  }
}

function cellOf(place: number, zoom: number): number {
  return Math.floor(place / 4 ** (PLACE_ORDER - zoom - POINT_CELL_BITS))
}

function round(coordinate: number, unit: number): number {
  return Math.floor(coordinate / unit + 0.5)
}
