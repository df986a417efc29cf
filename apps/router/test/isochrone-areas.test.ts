import { bytesSource, openOsm, writePbf } from '@terrane/osm'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { buildNetwork, Router } from '@terrane/routing'
import { buildCity } from '@terrane/testing/city'
import { expect, onTestFinished, test, vi } from 'vitest'

vi.setConfig({ testTimeout: 180_000 })

test(`isochrones are valid for PostGIS and lie within each other (${testLane()})`, async () => {
  const { elements, header } = buildCity()
  const bytes = Buffer.concat([...writePbf(elements, header)])
  const network = await buildNetwork([await openOsm(bytesSource(bytes, 'town.osm.pbf'))])
  const router = new Router(network)
  await using db = await openTestDatabase()
  onTestFinished(() => router.close())
  const { nodeCount, nodeLon, nodeLat } = network.graph
  const told: { group: number; level: number; geometry: unknown }[] = []
  for (let i = 0; i < 12; i++) {
    const node = (i * 7919) % nodeCount
    const request = {
      locations: [{ lon: nodeLon[node]! / 1e7, lat: nodeLat[node]! / 1e7 }],
      costing: ['auto', 'bicycle', 'pedestrian'][i % 3],
      contours: [{ time: 1 }, { time: 2 }, { time: 4 }, { time: 7 }],
      polygons: true,
      reverse: i % 2 === 1,
      ...(i % 4 === 0 && { generalize: 40 }),
    }
    const { features } = JSON.parse(router.answer(JSON.stringify(request), 'isochrone').body) as {
      features: { properties: { contour: number }; geometry: unknown }[]
    }
    for (const { properties, geometry } of features) told.push({ group: i, level: properties.contour, geometry })
  }
  expect(told.length).toBeGreaterThan(30)
  const { rows } = await db.database.query<{ invalid: number; outside: number }>(
    `WITH areas AS (
       SELECT (item->>'group')::int AS "group", (item->>'level')::float AS level, ST_GeomFromGeoJSON(item->>'geometry') AS geom
       FROM jsonb_array_elements($1::jsonb) AS item
     )
     SELECT (SELECT count(*) FROM areas WHERE NOT ST_IsValid(geom))::int AS invalid,
            -- A step of the grid is a metre at most: what lies outside is thinner than that.
            (SELECT count(*) FROM areas a JOIN areas b ON a."group" = b."group" AND a.level < b.level
             WHERE NOT ST_IsEmpty(ST_Buffer(ST_Difference(a.geom, b.geom), -0.00001)))::int AS outside`,
    [JSON.stringify(told)],
  )
  expect(rows).toEqual([{ invalid: 0, outside: 0 }])
})
