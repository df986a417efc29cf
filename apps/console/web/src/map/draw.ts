import type { Map as MapLibreMap } from 'maplibre-gl'
import { TerraDraw, TerraDrawPolygonMode, TerraDrawRectangleMode, TerraDrawSelectMode } from 'terra-draw'
import { TerraDrawMapLibreGLAdapter } from 'terra-draw-maplibre-gl-adapter'

/** Polygons, each an outer ring and its holes, of positions in degrees. */
export type Polygons = readonly (readonly (readonly (readonly number[])[])[])[]

/**
 * Maximum shapes with draggable corners. More would be slow. Shapes with holes are not editable, because the tool does
 * not support them.
 */
const MAX_EDITED = 20
const MAX_CORNERS = 2000
/** Decimal digits of the tool's coordinates. */
const PRECISION = 9

/** Draws and edits polygons on a map. Each polygon is passed to a callback at once; the tool keeps none. */
export class AreaDrawing {
  readonly #map: MapLibreMap
  #tool: TerraDraw | null = null

  constructor(map: MapLibreMap) {
    this.#map = map
  }

  /** True for polygons that {@link AreaDrawing.edit} takes. */
  static canEdit(polygons: Polygons): boolean {
    const corners = polygons.reduce((sum, rings) => sum + (rings[0]?.length ?? 0), 0)
    return (
      polygons.length > 0 &&
      polygons.length <= MAX_EDITED &&
      corners <= MAX_CORNERS &&
      polygons.every((rings) => rings.length === 1)
    )
  }

  /** Lets the user draw one shape, then calls back with it. */
  draw(shape: 'rectangle' | 'polygon', onDrawn: (polygon: Polygons[number]) => void): void {
    const tool = this.#start()
    tool.on('finish', () => {
      const [drawn] = polygonsOf(tool)
      // The tool is still handling the event, so it is stopped after it.
      queueMicrotask(() => {
        if (this.#tool === tool) this.stop()
        if (drawn) onDrawn(drawn)
      })
    })
    tool.setMode(shape)
  }

  /** Lets the user drag shapes and their corners, and calls back after each change. */
  edit(polygons: Polygons, onChange: (polygons: Polygons) => void): void {
    const tool = this.#start()
    const features = polygons.map((rings) => ({
      type: 'Feature' as const,
      properties: { mode: 'polygon' },
      geometry: {
        type: 'Polygon' as const,
        coordinates: rings.map((ring) => ring.map(([lng = 0, lat = 0]) => [rounded(lng), rounded(lat)])),
      },
    }))
    const [first] = tool.addFeatures(features)
    tool.setMode('select')
    if (first?.id !== undefined) tool.selectFeature(first.id)
    tool.on('finish', () => onChange(polygonsOf(tool)))
  }

  stop(): void {
    this.#tool?.stop()
    this.#tool = null
  }

  #start(): TerraDraw {
    this.stop()
    const editable = {
      feature: { draggable: true, coordinates: { midpoints: true, draggable: true, deletable: true } },
    }
    this.#tool = new TerraDraw({
      adapter: new TerraDrawMapLibreGLAdapter({ map: this.#map, coordinatePrecision: PRECISION }),
      modes: [
        new TerraDrawPolygonMode(),
        new TerraDrawRectangleMode(),
        new TerraDrawSelectMode({ flags: { polygon: editable } }),
      ],
    })
    this.#tool.start()
    return this.#tool
  }
}

/** The polygons of a GeoJSON text with a geometry, feature or collection; empty for other texts. */
export function polygonsIn(text: string): Polygons {
  try {
    return collect(JSON.parse(text) as GeoJSON.GeoJSON)
  } catch {
    return []
  }
}

function collect(value: GeoJSON.GeoJSON): Polygons {
  switch (value.type) {
    case 'Polygon':
      return isDrawable([value.coordinates]) ? [value.coordinates] : []
    case 'MultiPolygon':
      return isDrawable(value.coordinates) ? value.coordinates : []
    case 'Feature':
      return collect(value.geometry)
    case 'FeatureCollection':
      return value.features.flatMap((feature) => collect(feature))
    default:
      return []
  }
}

function isDrawable(polygons: unknown): boolean {
  return Array.isArray(polygons) && polygons.every((rings) => Array.isArray(rings) && rings.every(isRing))
}

function isRing(ring: unknown): boolean {
  return Array.isArray(ring) && ring.length > 0 && ring.every(isPosition)
}

function isPosition(position: unknown): boolean {
  return Array.isArray(position) && Number.isFinite(position[0]) && Number.isFinite(position[1])
}

function polygonsOf(tool: TerraDraw): Polygons {
  return tool
    .getSnapshot()
    .flatMap(({ geometry, properties }) =>
      geometry.type === 'Polygon' && properties['midPoint'] === undefined ? [geometry.coordinates] : [],
    )
}

function rounded(degrees: number): number {
  return Number(degrees.toFixed(PRECISION))
}
