/** Submits a job as a signed-in person: a session cookie and its CSRF token, and no key. Returns the job. */
export async function submitJob(
  console: string,
  person: { email: string; password: string },
  path: string,
  body: object,
) {
  const json = { 'content-type': 'application/json' }
  const session = await fetch(`${console}/api/session`, { method: 'POST', headers: json, body: JSON.stringify(person) })
  const { csrf_token: csrf } = (await session.json()) as { csrf_token: string }
  const cookie = session.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const headers = { ...json, cookie, 'x-csrf-token': csrf }
  const answer = await fetch(`${console}/api/projects/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as { job_id: string; status: string }
}
