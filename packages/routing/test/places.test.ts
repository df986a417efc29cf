import { expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'

const residential = { highway: 'residential' }
const METERS_PER_DEGREE = 111_195

it('a place at one end of a street that is shorter than its tolerance is put on that end', async () => {
  for (const short of ['AB', 'BA']) {
    const town = await drawTown({
      map: 'A-B------C\n  |\n  D',
      meters: 2,
      ways: { [short]: residential, BC: residential, BD: residential },
    })
    expect(town.route('BC').path).toBe('BC')
    expect(town.route('DB').path).toBe('DB')
    expect(town.route('AC').path).toBe('ABC')
  }
})

it('a place beside the last metre of a street is on it, however lengths are rounded', async () => {
  const town = await drawTown({ map: 'A----B----C', meters: 8.09, ways: { AB: residential, BC: residential } })
  const corner = town.at('B')
  const perMeter = 1 / (METERS_PER_DEGREE * Math.cos((corner.lat * Math.PI) / 180))
  for (let meters = 0.1; meters < 2; meters += 0.1) {
    for (const costing of ['auto', 'bicycle', 'pedestrian']) {
      const beside = (lon: number) => ({ lon, lat: corner.lat + 9 / METERS_PER_DEGREE })
      const ahead = town.answer([beside(corner.lon - meters * perMeter), town.at('C')], { costing })
      expect(ahead.trip.summary.length * 1000).toBeLessThan(45)
      const back = town.answer([town.at('A'), beside(corner.lon + meters * perMeter)], { costing })
      expect(back.trip.summary.length * 1000).toBeLessThan(45)
    }
  }
})

it('a route that begins where a street for local traffic meets others leaves by it, and no route crosses it', async () => {
  const town = await drawTown({
    map: 'Y---X---A---B\n    |       |\n    C-------D',
    meters: 60,
    ways: {
      YX: residential,
      XA: { ...residential, motor_vehicle: 'destination' },
      AB: residential,
      XC: residential,
      CD: residential,
      DB: residential,
    },
  })
  for (const costing of ['auto', 'bus', 'taxi', 'truck', 'motorcycle', 'motor_scooter']) {
    expect(town.route('XB', { costing }).path).toBe('XAB')
    expect(town.route('YB', { costing }).path).toBe('YXCDB')
  }
})
