// The smallest useful function: POST {origin}/functions/v1/hello
export default {
  async fetch(request: Request, ctx: { requestId: string }): Promise<Response> {
    const body = (await request.json().catch(() => ({}))) as { name?: unknown }
    const name = typeof body.name === 'string' && body.name !== '' ? body.name : 'world'
    return Response.json({ message: `Hello ${name}!`, request_id: ctx.requestId })
  },
}
