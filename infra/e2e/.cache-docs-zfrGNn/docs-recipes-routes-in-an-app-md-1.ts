import polyline from '@mapbox/polyline'

const { TERRANE_URL, TERRANE_SERVICES_KEY } = process.env
const answer = await fetch(`${TERRANE_URL}/routing-engine/v1/route`, {
  method: 'POST',
  headers: { apikey: TERRANE_SERVICES_KEY!, 'content-type': 'application/json' },
  body: JSON.stringify({
    locations: [
      { lat: 48.0975, lon: 11.5922 },
      { lat: 48.1085, lon: 11.5879 },
    ],
    costing: 'bicycle',
    units: 'kilometers',
  }),
})
if (!answer.ok) throw new Error(await answer.text())
const { trip } = await answer.json()
const line = trip.legs.flatMap(({ shape }: { shape: string }) => polyline.decode(shape, 6).map(([lat, lon]) => [lon, lat]))
console.log(`${line.length} points, ${trip.summary.length} km`)
