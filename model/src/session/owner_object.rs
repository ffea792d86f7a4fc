//! The Durable Object of a paused execution's owner: one per execution id, which forgets itself when the approval
//! window is over.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::signed;
use crate::config::HostConfig;
use crate::defect::defect;
use crate::iso_time::from_iso;
use crate::js::{EventLoop, call, js, rooted, try_all};
use crate::operation::Operation;
use crate::platform::{
    AlarmInfo, DurableObject, FetchRequest, FetchResponse, JsError, LocalFuture, ObjectContext, Socket,
};

/// Class name in the namespace.
pub const OWNER_CLASS: &str = "McpExecutionOwnerDO";
/// Storage key of the record.
const OWNER_KEY: &str = "owner";

crate::operations! {
    DIR_PUT = "dir · storage.put owner", Storage, 3; "storage; one commit with the alarm"
    DIR_ALARM = "dir · storage.setAlarm expiry", Storage, 3; "storage"
    DIR_GET = "dir · storage.get owner", Storage, 3; "storage"
    DIR_DELETE = "dir · storage.delete owner", Storage, 3; "storage; together with the alarm, delete first: four trips for both"
    DIR_DELETE_ALARM = "dir · storage.deleteAlarm", Storage, 3; "storage; together with the delete"
    DIR_EXPIRE = "dir.alarm · storage.delete owner", Storage, 3; "storage; together with the alarm, without a read: four trips for both"
    DIR_EXPIRE_ALARM = "dir.alarm · storage.deleteAlarm", Storage, 3; "storage; together with the delete"
}

/// Who holds a paused execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerRecord {
    /// The execution.
    pub execution_id: Arc<str>,
    /// The session that holds it.
    pub session_id: Arc<str>,
    /// Account of that session.
    pub account_id: Arc<str>,
    /// Organisation of that session.
    pub organization_id: Arc<str>,
    /// End of the approval window, ISO 8601.
    pub expires_at: String,
    /// Length of the approval window.
    pub ttl_ms: u64,
}

impl OwnerRecord {
    /// The record of a stored or sent object; none when it is malformed.
    pub fn from_json(value: &Value) -> Option<OwnerRecord> {
        let text = |value: &Value| value.as_str().map(Arc::<str>::from);
        Some(OwnerRecord {
            execution_id: text(&value["executionId"])?,
            session_id: text(&value["owner"]["sessionId"])?,
            account_id: text(&value["accountId"])?,
            organization_id: text(&value["organizationId"])?,
            expires_at: value["expiresAt"].as_str()?.to_owned(),
            ttl_ms: value["ttlMs"].as_u64()?,
        })
    }

    /// As it is stored and sent.
    pub fn to_json(&self) -> Value {
        json!({
            "executionId": &*self.execution_id,
            "owner": {"sessionId": &*self.session_id},
            "accountId": &*self.account_id,
            "organizationId": &*self.organization_id,
            "expiresAt": self.expires_at,
            "ttlMs": self.ttl_ms,
        })
    }
}

/// The object.
pub struct OwnerObject {
    ctx: ObjectContext,
    config: Rc<HostConfig>,
}

impl OwnerObject {
    /// The constructor.
    pub fn new(ctx: ObjectContext, config: Rc<HostConfig>) -> Rc<Self> {
        Rc::new(OwnerObject { ctx, config })
    }

    async fn stored(&self) -> Result<Option<OwnerRecord>, JsError> {
        let stored = self.ctx.storage().get(&DIR_GET, OWNER_KEY).await?;
        Ok(stored.as_deref().and_then(OwnerRecord::from_json))
    }

    /// Keeps a record up to its expiry; one without a finite expiry is ignored.
    async fn put(&self, record: &Value) -> Result<Value, JsError> {
        let expiry = record["expiresAt"].as_str().and_then(from_iso);
        if let Some(expires_at_ms) = expiry {
            let storage = self.ctx.storage();
            storage.put(&DIR_PUT, OWNER_KEY, record.clone()).await?;
            storage.set_alarm(&DIR_ALARM, signed(expires_at_ms)).await?;
        }
        Ok(Value::Null)
    }

    /// The record of this execution; one that has expired is deleted on the way.
    async fn get(&self, id: &str) -> Result<Value, JsError> {
        let Some(record) = self.stored().await?.filter(|record| *record.execution_id == *id) else {
            return Ok(Value::Null);
        };
        let now_ms = EventLoop::current().now_ms();
        if from_iso(&record.expires_at).is_none_or(|expires_at_ms| expires_at_ms <= now_ms) {
            js(self.delete(id)).await?;
            return Ok(Value::Null);
        }
        Ok(record.to_json())
    }

    /// Forgets the record, unless it is valid and another execution's.
    async fn delete(&self, id: &str) -> Result<Value, JsError> {
        if self.stored().await?.is_some_and(|record| *record.execution_id != *id) {
            return Ok(Value::Null);
        }
        self.forget(&DIR_DELETE, &DIR_DELETE_ALARM).await?;
        Ok(Value::Null)
    }

    /// Key and alarm, both at once.
    async fn forget(&self, delete: &'static Operation, delete_alarm: &'static Operation) -> Result<(), JsError> {
        let storage = self.ctx.storage();
        let deleted = storage.delete(delete, OWNER_KEY).promise();
        let deleted = call(async move { deleted.wait_hops(0).await.map(drop) });
        let both = vec![deleted, storage.delete_alarm(delete_alarm).promise()];
        try_all(both).wait_hops(1).await.map(drop)
    }
}

async fn dispatch(owner: Rc<OwnerObject>, method: &'static str, arguments: Value) -> Result<Value, JsError> {
    if defect!(owner.config, DirectoryWithoutRpc) {
        return Err(JsError::type_error(NO_RPC));
    }
    let id = arguments["executionId"].as_str().unwrap_or_default();
    match method {
        "put" => owner.put(&arguments["record"]).await,
        "get" => owner.get(id).await,
        "delete" => owner.delete(id).await,
        other => Err(JsError::no_such_method(other)),
    }
}

/// What the platform says of a class that is no Durable Object class of its own.
const NO_RPC: &str = "The receiving Durable Object does not support RPC, because its class was not declared with \
                      `extends DurableObject`. In order to enable RPC, make sure your class extends the special class \
                      `DurableObject`, which can be imported from the module \"cloudflare:workers\".";

impl DurableObject for OwnerObject {
    fn rpc(self: Rc<Self>, method: &'static str, arguments: Value) -> LocalFuture<Result<Value, JsError>> {
        Box::pin(rooted("directory", dispatch(self, method, arguments)))
    }

    fn fetch(self: Rc<Self>, _request: FetchRequest) -> LocalFuture<Result<FetchResponse, JsError>> {
        Box::pin(std::future::ready(Ok(FetchResponse { status: 404, ..FetchResponse::default() })))
    }

    fn alarm(self: Rc<Self>, _info: AlarmInfo) -> Option<LocalFuture<Result<(), JsError>>> {
        Some(Box::pin(async move { self.forget(&DIR_EXPIRE, &DIR_EXPIRE_ALARM).await }))
    }

    fn socket_message(self: Rc<Self>, _socket: Socket, _text: Arc<str>) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn socket_close(self: Rc<Self>, _socket: Socket, _code: u16) -> LocalFuture<Result<(), JsError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
