import { describe, expect, it } from 'vitest'

import { Router } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { decodeShape } from './support/compare.ts'

/** Main Street ends in a crossbar; Ring Street leads round to a motorway link. */
const town = await drawTown({
  map: `
    A---B---C---D
            |   |
            |   E
            |   |
            F---G---H
  `,
  meters: 40,
  ways: {
    ABC: { highway: 'secondary', name: 'Main Street', ref: 'B 1' },
    CD: { highway: 'residential', name: 'Short Lane', access: 'private' },
    CF: { highway: 'residential', name: 'Side Street' },
    DEG: { highway: 'residential', name: 'East Street', tunnel: 'yes' },
    FG: { highway: 'residential', name: 'Back Street' },
    GH: { highway: 'residential', name: 'Back Street' },
  },
})
const router = new Router(town.network)
const places = (letters: string) => Array.from(letters, (letter) => town.at(letter))
const answer = (more: object, letters = 'AH') =>
  router.answer(JSON.stringify({ locations: places(letters), costing: 'auto', ...more }))
const osrm = (more: object = {}, letters = 'AH') => JSON.parse(answer({ format: 'osrm', ...more }, letters).body)
const trip = JSON.parse(answer({}).body).trip

describe('the form of OSRM', () => {
  const { code, routes, waypoints } = osrm()
  const [route] = routes
  const [leg] = route.legs

  it('says the same as the form of Valhalla', () => {
    expect(code).toBe('Ok')
    expect(route.distance).toBeCloseTo(trip.summary.length * 1000, -1)
    expect(route.duration).toBeCloseTo(trip.summary.time, 1)
    expect(route.weight).toBeCloseTo(trip.summary.cost, 1)
    expect(route.weight_name).toBe('auto')
    expect(route.geometry).toBe(trip.legs[0].shape)
    expect(leg.steps.map(({ maneuver }: { maneuver: { instruction: string } }) => maneuver.instruction)).toEqual(
      trip.legs[0].maneuvers.map(({ instruction }: { instruction: string }) => instruction),
    )
  })

  it('has steps with names, numbers, maneuvers and crossings', () => {
    const [first, second, third, last] = leg.steps
    expect(first).toMatchObject({ name: 'Main Street', ref: 'B 1', mode: 'driving', driving_side: 'right' })
    expect(first.maneuver).toMatchObject({ type: 'depart', bearing_before: 0, bearing_after: 90 })
    expect(first.maneuver).not.toHaveProperty('modifier')
    expect(second).toMatchObject({ name: 'Side Street' })
    expect(second.maneuver).toMatchObject({ type: 'turn', modifier: 'right', bearing_before: 90, bearing_after: 180 })
    expect(second.intersections[0]).toMatchObject({
      bearings: [90, 180, 270],
      entry: [true, true, false],
      in: 2,
      out: 1,
    })
    expect(third.maneuver).toMatchObject({ type: 'new name', modifier: 'left' })
    expect(last.maneuver).toMatchObject({ type: 'arrive', bearing_after: 0 })
    expect(last).toMatchObject({ distance: 0, duration: 0, name: 'Back Street' })
    expect(leg.summary).toBe('Main Street, Side Street')
    const sum = (of: 'distance' | 'duration') =>
      leg.steps.reduce((total: number, step: Record<string, number>) => total + step[of]!, 0)
    expect(sum('distance')).toBeCloseTo(route.distance, 0)
    expect(sum('duration')).toBeCloseTo(route.duration, 1)
    expect(decodeShape(first.geometry).at(-1)).toEqual(decodeShape(second.geometry)[0])
  })

  it('has waypoints where locations were put', () => {
    expect(waypoints).toHaveLength(2)
    expect(waypoints[0].name).toBe('Main Street')
    expect(waypoints[0].location[0]).toBeCloseTo(town.at('A').lon, 5)
    expect(waypoints[0].distance).toBeLessThan(0.2)
  })

  it('names classes of streets', () => {
    const classes = osrm({}, 'DG').routes[0].legs[0].steps[0].intersections[0].classes
    expect(classes).toEqual(['tunnel'])
    expect(osrm({}, 'CD').routes[0].legs[0].steps[0].intersections[0].classes).toEqual(['restricted'])
  })

  it('leaves out steps and the overview, and draws other lines, when it is asked to', () => {
    const short = osrm({ steps: false, overview: false })
    expect(short.routes[0].legs[0].steps).toEqual([])
    expect(short.routes[0]).not.toHaveProperty('geometry')
    const drawn = osrm({ geometries: 'geojson' }).routes[0]
    expect(drawn.geometry).toEqual({ type: 'LineString', coordinates: decodeShape(trip.legs[0].shape) })
    expect(drawn.legs[0].steps[0].geometry.type).toBe('LineString')
    const simple = osrm({ geometries: 'geojson', overview: 'simplified' }).routes[0].geometry.coordinates
    expect(simple).toHaveLength(4)
    expect(osrm({ geometries: 'polyline' }).routes[0].geometry).toBe(
      osrm({ shape_format: 'polyline5' }).routes[0].geometry,
    )
    expect(osrm({ geometries: 'polyline' }).routes[0].geometry).not.toBe(route.geometry)
  })

  it('has problems of its own', () => {
    const far = { locations: [town.at('A'), { lat: 0, lon: 0 }] }
    expect(JSON.parse(answer({ format: 'osrm', ...far }).body)).toEqual({
      code: 'DistanceExceeded',
      message: 'Path distance exceeds the max distance limit: 5000000 meters',
    })
    expect(osrm({ locations: [] }).code).toBe('InvalidOptions')
  })

  it('has a leg for each break', () => {
    const { routes: found, waypoints: stops } = osrm({}, 'AFH')
    expect(found[0].legs).toHaveLength(2)
    expect(stops).toHaveLength(3)
    expect(decodeShape(found[0].geometry).length).toBeGreaterThan(4)
  })
})

describe('GPX', () => {
  const { status, type, body } = answer({ format: 'gpx' })

  it('has the points of the line, and those where ways begin with their ids', () => {
    expect([status, type]).toEqual([200, 'gpx'])
    expect(body).toMatch(/^<\?xml version="1\.0" encoding="UTF-8" standalone="no"\?><gpx version="1\.1"/)
    const line = decodeShape(trip.legs[0].shape)
    const points = [...body.matchAll(/<wpt lon="([^"]+)" lat="([^"]+)">/g)].map(([, lon, lat]) => [
      Number(lon),
      Number(lat),
    ])
    expect(points).toEqual(line)
    expect([...body.matchAll(/<name>(\d+)<\/name>/g)].map(([, id]) => Number(id))).toEqual([1, 3, 5, 6, 6])
  })

  it('has errors as JSON', () => {
    expect(JSON.parse(answer({ format: 'gpx', locations: [] }).body).error_code).toBe(110)
  })
})

describe('lines of the form of Valhalla', () => {
  const shape = (shape_format: string) => JSON.parse(answer({ shape_format }).body).trip.legs[0].shape

  it('can have five decimals, be GeoJSON, or be left out', () => {
    expect(shape('geojson')).toEqual({ type: 'LineString', coordinates: decodeShape(trip.legs[0].shape) })
    expect(shape('no_shape')).toBeUndefined()
    expect(shape('polyline6')).toBe(trip.legs[0].shape)
    expect(shape('polyline5').length).toBeLessThan(trip.legs[0].shape.length)
  })
})

describe('recostings', () => {
  const recostings = [
    { costing: 'bicycle', name: 'by_bike' },
    { costing: 'auto', name: 'slow', fixed_speed: 10 },
    { costing: 'pedestrian' },
  ]

  it('are times of the same route under other costings, for the trip, its legs and its maneuvers', () => {
    const recosted = JSON.parse(answer({ recostings }).body).trip
    const { time_by_bike, time_slow, time_pedestrian, length } = recosted.summary
    expect(recosted.legs[0].shape).toBe(trip.legs[0].shape)
    const alone = JSON.parse(answer({ costing_options: { auto: { fixed_speed: 10 } } }).body).trip
    expect(alone.legs[0].shape).toBe(trip.legs[0].shape)
    expect(time_slow).toBeCloseTo(alone.summary.time, 2)
    expect(time_pedestrian).toBeGreaterThan((length * 3600) / 5.2)
    expect(time_by_bike).toBeGreaterThan((length * 3600) / 18)
    const maneuvers: { time_slow: number }[] = recosted.legs[0].maneuvers
    expect(maneuvers.reduce((sum, maneuver) => sum + maneuver.time_slow, 0)).toBeCloseTo(time_slow, 1)
    expect(recosted.legs[0].summary.time_slow).toBe(time_slow)
  })

  it('are null where a costing may not travel the route', () => {
    const closed = JSON.parse(answer({ recostings: [{ costing: 'bicycle' }], exclude_locations: [] }, 'DG').body).trip
    expect(closed.summary.time_bicycle).toBeGreaterThan(0)
    const walking = JSON.parse(answer({ costing: 'pedestrian', recostings: [{ costing: 'truck' }] }, 'AH').body).trip
    expect(walking.summary.time_truck).not.toBeNull()
  })

  it('stand in the form of OSRM as well', () => {
    const route = osrm({ recostings }).routes[0]
    expect(route.duration_slow).toBeGreaterThan(route.duration)
    expect(route.weight_slow).toBeGreaterThan(0)
    expect(route.legs[0].duration_slow).toBe(route.duration_slow)
    expect(route.legs[0].steps[0].duration_slow).toBeGreaterThan(route.legs[0].steps[0].duration)
  })
})
