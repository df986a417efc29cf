import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl'
import { Loading, ProblemNotice, Segmented } from '../../components/basics.tsx'
import { SelectField } from '../../components/form.tsx'
import type { Project } from '../../lib/project.ts'
import {
  COSTINGS,
  decodeShape,
  findRoutes,
  readGraphBox,
  type Costing,
  type Reach,
  type RouteRequest,
} from '../../lib/routing.ts'
import { useStore } from '../../lib/store.ts'
import { isDark } from '../../lib/theme.ts'
import { useResource, type Resource } from '../../lib/use-resource.ts'
import { boxOf } from '../../map/box.ts'
import type { Box } from '../../map/graticule.ts'
import { isLookingAt, lookAt } from '../../map/look-at.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'
import { FIRST_ROUTE_LAYER, addRouteLayers, showLines, showOthers } from '../../map/route-line.ts'
import { useBackdrop } from '../../map/use-backdrop.ts'
import { drawStreets, FIRST_STREET_LAYER } from '../../map/streets.ts'
import { showReach } from '../../map/reach-areas.ts'
import { Itinerary, RouteChoice } from './itinerary.tsx'
import { PlaceSearch } from './place-search.tsx'
import { ReachControl, useReach } from './reach.tsx'
import { StopList } from './stop-list.tsx'
import { emptyStop, placed, readStop, type Stop } from './stops.ts'
import { useMarkers } from './use-markers.ts'

const LANGUAGES = ['en-US', 'en-GB', 'cs-CZ', 'de-DE', 'es-ES', 'fr-FR', 'it-IT', 'nl-NL', 'pl-PL', 'pt-BR'] as const

/** A route between clicked or entered places: the line, its length and duration, and instructions for each turn. */
export function RoutePage({ project }: { project: Project }): JSX.Element {
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const [stops, setStops] = useState<readonly Stop[]>(() => [emptyStop(), emptyStop()])
  const [costing, setCosting] = useState<Costing>('auto')
  const [units, setUnits] = useState<RouteRequest['units']>('kilometers')
  const [language, setLanguage] = useState<string>(() => preferredLanguage())
  const [minutes, setMinutes] = useState(0)
  const places = stops.map(readStop).filter((place) => place !== null)
  const wanted: RouteRequest | null =
    places.length < 2 ? null : { locations: places.map(([lon, lat]) => ({ lat, lon })), costing, units, language }
  const graph = useGraphStreets(map, project)
  const reach = useReach(project, places[0], costing, minutes)
  useReachArea(map, reach.value)
  const { routes, trips, chosen, setChoice, look } = useTrips(map, project, wanted)
  useMapClicks(map, { onRoute: setChoice, onPlace: (at) => setStops((old) => placed(old, at)) })
  useMarkers(map, stops, setStops)
  const goTo = ({ at }: { at: { lng: number; lat: number } }) => {
    setStops((old) => placed(old, at))
    if (map) lookAt(map, [at.lng, at.lat, at.lng, at.lat], 16)
  }
  return (
    <div class="map-page">
      <div class="side">
        <header>
          <h1>Route</h1>
        </header>
        <div class="scroll">
          <PlaceSearch projectRef={project.ref} onPlace={goTo} />
          <StopList stops={stops} onChange={setStops} />
          <Options
            {...{ costing, units, language }}
            onCosting={setCosting}
            onUnits={setUnits}
            onLanguage={setLanguage}
          />
          <ReachControl minutes={minutes} reach={reach} hasPlace={places.length > 0} onMinutes={setMinutes} />
          {graph.problem && <ProblemNotice problem={graph.problem} onRetry={graph.reload} />}
          {routes.problem && <ProblemNotice problem={routes.problem} onRetry={routes.reload} />}
          {routes.loading && <Loading what="Finding routes" />}
          {chosen && !routes.problem && (
            <>
              <RouteChoice
                trips={trips.map(({ trip }) => trip)}
                chosen={trips.indexOf(chosen)}
                units={units}
                onChoose={setChoice}
              />
              <Itinerary {...chosen} units={units} onLook={look} />
            </>
          )}
        </div>
      </div>
      <MapCanvas label="Map of the route" projectRef={project.ref} onMap={setMap}>
        {places.length < 2 && (
          <div class="hint-bar">{places.length === 0 ? 'Click the start of the route' : 'Click the destination'}</div>
        )}
      </MapCanvas>
    </div>
  )
}

/** The streets of the routing graph on the map, and its extent, which the map shows first. */
function useGraphStreets(map: MapLibreMap | null, project: Project): Resource<Box | null> {
  const dark = useStore(isDark)
  useEffect(() => {
    if (!map) return
    addRouteLayers(map, dark)
    drawStreets(map, project.ref, dark, FIRST_ROUTE_LAYER)
  }, [map, dark])
  // This page draws the graph's own streets as lines, so the backdrop shows areas only.
  useBackdrop(map, project.ref, FIRST_STREET_LAYER, { stay: true, areasOnly: true })
  const graph = useResource(`graph ${project.ref}`, (signal) => readGraphBox(project.ref, signal))
  useEffect(() => {
    if (map && graph.value && !isLookingAt(map, graph.value)) lookAt(map, graph.value)
  }, [map, graph.value])
  return graph
}

function useReachArea(map: MapLibreMap | null, reach: Reach | undefined): void {
  useEffect(() => {
    if (!map) return
    showReach(map, reach ?? null, FIRST_ROUTE_LAYER)
    const box = boxOf(reach?.features.flatMap(({ geometry }) => positionsOf(geometry)) ?? [])
    if (box) lookAt(map, box)
  }, [map, reach])
}

/** The routes between the places: their lines on the map, the chosen one, and the selected part. */
function useTrips(map: MapLibreMap | null, project: Project, wanted: RouteRequest | null) {
  const routes = useResource(wanted && `route ${project.ref} ${JSON.stringify(wanted)}`, (signal) =>
    findRoutes(project.ref, wanted as RouteRequest, signal),
  )
  const trips = useMemo(
    () => routes.value?.map((trip) => ({ trip, lines: trip.legs.map(({ shape }) => decodeShape(shape)) })) ?? [],
    [routes.value],
  )
  const [choice, setChoice] = useState(0)
  const [part, setPart] = useState<readonly [number, number][]>([])
  const chosen = trips[choice] ?? trips[0]
  useEffect(() => {
    if (!map) return
    const box = boxOf(trips.flatMap(({ lines }) => lines.flat()))
    if (box) lookAt(map, box)
    setChoice(0)
  }, [map, trips])
  useEffect(() => {
    if (!map) return
    showLines(map, 'route', chosen?.lines ?? [])
    const others = trips.map(({ lines }, index) => ({ index, lines }))
    showOthers(
      map,
      others.filter(({ index }) => trips[index] !== chosen),
    )
    setPart([])
  }, [map, trips, chosen])
  useEffect(() => {
    if (map) showLines(map, 'maneuver', [part])
  }, [map, part])
  const look = (line: readonly [number, number][]) => {
    setPart(line)
    const box = boxOf(line)
    if (map && box) lookAt(map, box, 17)
  }
  return { routes, trips, chosen, setChoice, look }
}

/** A click on an alternative route selects it; elsewhere it sets a place. */
function useMapClicks(
  map: MapLibreMap | null,
  { onRoute, onPlace }: { onRoute: (index: number) => void; onPlace: (at: MapMouseEvent['lngLat']) => void },
): void {
  useEffect(() => {
    if (!map) return
    const click = ({ lngLat, point }: MapMouseEvent) => {
      const [other] = map.queryRenderedFeatures(point, { layers: ['others-line'] })
      if (other) onRoute(Number(other.properties['index']))
      else onPlace(lngLat)
    }
    map.getCanvas().style.cursor = 'crosshair'
    map.on('click', click)
    return () => void map.off('click', click)
  }, [map])
}

function Options(props: {
  costing: Costing
  units: RouteRequest['units']
  language: string
  onCosting: (costing: Costing) => void
  onUnits: (units: RouteRequest['units']) => void
  onLanguage: (language: string) => void
}): JSX.Element {
  return (
    <div class="route-options">
      <div class="two">
        <SelectField
          id="costing"
          label="Travel by"
          value={props.costing}
          options={Object.entries(COSTINGS).map(([value, label]) => [value as Costing, label])}
          onChoose={props.onCosting}
        />
        <SelectField
          id="language"
          label="Language"
          value={props.language}
          options={LANGUAGES.map((tag) => [tag, nameOf(tag), { lang: tag }])}
          onChoose={props.onLanguage}
        />
      </div>
      <Segmented
        label="Units"
        value={props.units}
        onChange={props.onUnits}
        options={[
          { value: 'kilometers', label: 'Kilometres' },
          { value: 'miles', label: 'Miles' },
        ]}
      />
    </div>
  )
}

/** A language by its own name. */
function nameOf(tag: string): string {
  return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
}

function preferredLanguage(): string {
  const exact = LANGUAGES.find((tag) => navigator.languages.includes(tag))
  const wanted = new Set(navigator.languages.map((tag) => tag.slice(0, 2)))
  return exact ?? LANGUAGES.find((tag) => wanted.has(tag.slice(0, 2))) ?? 'en-US'
}

/** All positions of an area's outlines. */
function positionsOf({ type, coordinates }: Reach['features'][number]['geometry']): GeoJSON.Position[] {
  return type === 'Polygon' ? coordinates.flat() : coordinates.flat(2)
}
