//! The server as its clients meet it: bytes on a socket in, bytes out.

mod addresses;
mod anew;
mod bad_requests;
mod forecasts;
mod limits;
mod memory;
mod reloads;
mod test_client;
mod test_server;
mod together;
