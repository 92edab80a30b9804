import os, sys, json, time, hashlib, csv, fcntl, math
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL","3"); os.environ["CUDA_VISIBLE_DEVICES"]=""
import numpy as np
BASE=dict(set="cifar10",seed=0,epochs=36,filters=(16,32,64),convs=(1,2,2),shift=.07,cutout=0,cutp=1.0,act="relu",opt="adamw",lr=3e-3,wd=.01,
  batch=50,sched="cosine",se=0,jitter=0,dropout=.4,ls=.05,flip=None,rotation=None,zoom=None,whiten=0,res=0,ema=0,pool="max",first="conv",avgend=0,nets=1,muonlr=.02,warm=.05,affp=1.0,randaug=0,drop_block=0,policy='float32',distill=0)
OUT="/tmp/w/img/trials.csv"
def load(name):
    import csdl_keras as csdl
    path=f"/tmp/w/img/{name}.npz"
    if os.path.exists(path):
        z=np.load(path); return [z[k] for k in ("a","b","c","d","e","f")]
    SEED=7
    def split(x,y,train,val,ev):
        order=np.random.default_rng(SEED).permutation(len(x))
        parts=np.split(order,np.cumsum([train,val,ev]))[:3]
        return [a for p in parts for a in (x[p].astype("float32"),y[p])]
    def images(n):
        d=csdl.datasets.load(n); return np.concatenate([d.x_train,d.x_val]),d.y_train_val
    if name=="cifar10": r=split(*images("cifar10"),8500,1500,10000)
    elif name=="gray":
        x,y=images("cifar10"); r=split(x.mean(axis=-1,keepdims=True)[:,2:30,2:30],y,8500,1500,10000)
    elif name=="rotated": r=split(*images("bg_img_rot_synthetic"),4000,600,7000)
    elif name=="mnist":
        small=csdl.datasets.load("mnist_5k"); code=lambda i: np.round(255*i).astype("uint8").tobytes()
        known={code(i) for p in (small.x_train,small.x_val,small.x_test) for i in p}
        x,y=images("mnist"); new=np.array([code(i) not in known for i in x]); r=split(x[new],y[new],3500,500,10000)
    np.savez(path,**dict(zip("abcdef",r))); return r
def key(o): return json.dumps({k:v for k,v in o.items() if v!=BASE[k] and not(isinstance(v,(list,tuple)) and tuple(v)==tuple(BASE[k]) if isinstance(BASE[k],tuple) else False)},sort_keys=True)
def main(o,threads):
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(threads); tf.config.threading.set_inter_op_parallelism_threads(1)
    import keras; from keras import ops
    keras.config.set_dtype_policy(o['policy'])
    import csdl_keras as csdl
    from csdl_keras.layers import RandomAffine,StandardizedConv2D,ImageViews
    from csdl_keras.training.augmentation import ChooseAugmentation
    import csdl_keras.layers.images as im
    from csdl_keras.fitting.fit import seeded_fit, executed_steps
    x,y,xv,yv,xe,ye=load(o["set"]); K=int(ye.max())+1
    class Cut(keras.layers.Layer):
        def call(self,v,training=False):
            if not training: return v
            b=ops.shape(v)[0]; h,w=v.shape[1:3]; s=o["cutout"]
            r=ops.floor(keras.random.uniform((b,1))*h); c=ops.floor(keras.random.uniform((b,1))*w)
            on=ops.cast(keras.random.uniform((b,1,1,1))<o["cutp"],"float32")
            a=ops.arange(h,dtype="float32")[None]; d=ops.arange(w,dtype="float32")[None]
            inr=ops.cast(ops.abs(a-r)*2<s,"float32"); inc=ops.cast(ops.abs(d-c)*2<s,"float32")
            m=(inr[:,:,None]*inc[:,None,:])[...,None]*on
            return v*(1-m)+.5*m
    class Jit(keras.layers.Layer):
        def call(self,v,training=False):
            if not training: return v
            b=ops.shape(v)[0]; j=o["jitter"]; n=v.shape[-1]
            mean=ops.mean(v,axis=(1,2),keepdims=True)
            con=1+j*(2*keras.random.uniform((b,1,1,1))-1); br=j*.5*(2*keras.random.uniform((b,1,1,1))-1)
            out=(v-mean)*con+mean+br
            if n>1:
                g=ops.mean(out,axis=-1,keepdims=True); sat=1+2*j*(2*keras.random.uniform((b,1,1,1))-1)
                out=(out-g)*sat+g
            return out
    keras.utils.set_random_seed(o["seed"])
    gains={"relu":im._RELU_GAIN,"silu":1.7868,"gelu":1.7015}
    class Conv(StandardizedConv2D):
        def build(self,s):
            super().build(s)
            name=o["act"]
            if self.activation is not keras.activations.linear: self.gain.assign(ops.ones_like(self.gain)*gains[name])
    inp=v=keras.Input(x.shape[1:])
    if o["jitter"]: v=Jit()(v)
    aff=RandomAffine(max(o["shift"],1/x.shape[1]),seed=o["seed"],dtype="float32"); v=aff(v)
    if o["cutout"]: v=Cut()(v)
    if o["whiten"]:
        p=x[:2000]; h=x.shape[1]; c=x.shape[-1]; ks=o["whiten"]
        pt=np.lib.stride_tricks.sliding_window_view(p,(ks,ks),axis=(1,2))[:,::3,::3].transpose(0,1,2,4,5,3).reshape(-1,ks*ks*c)
        pt=pt-pt.mean(0); ev,U=np.linalg.eigh(pt.T@pt/len(pt)); W=(U/np.sqrt(ev+5e-4*ev.max()))
        # mean patch
        k=W.reshape(ks,ks,c,-1); k=np.concatenate([k,-k],-1)
        v=keras.layers.Rescaling(1,-float(p.mean()))(v)
        cv=keras.layers.Conv2D(k.shape[-1],ks,padding="same",activation=o["act"],trainable=False); v=cv(v); cv.set_weights([k,np.zeros(k.shape[-1])])
    def conv(v,f,act=None):
        return Conv(f,3,padding="same",activation=act or o["act"],kernel_initializer="he_normal")(v)
    for i,f in enumerate(o["filters"]):
        if i and min(v.shape[1:3])>=4:
            v=keras.layers.MaxPooling2D(2)(v) if o["pool"]=="max" else keras.layers.AveragePooling2D(2)(v)
        if i and o["drop_block"]: v=keras.layers.Dropout(o["drop_block"])(v)
        n=o["convs"][i]
        for j in range(n):
            w=conv(v,f)
            if o["res"] and j and j==n-1 and n>2: w=keras.layers.Rescaling(.5**.5)(keras.layers.Add()([first,w]))
            if j==0: first=w
            v=w
        if o["se"] and i:
            s=keras.layers.GlobalAveragePooling2D(keepdims=True)(v)
            s=keras.layers.Dense(max(8,f//4),activation="relu")(s); s=keras.layers.Dense(f,activation="sigmoid")(s)
            v=keras.layers.Multiply()([v,keras.layers.Rescaling(2.)(s)])
    v=keras.layers.Concatenate()([keras.layers.GlobalAveragePooling2D()(v),keras.layers.GlobalMaxPooling2D()(v)])
    if o["dropout"]: v=keras.layers.Dropout(o["dropout"])(v)
    out=keras.layers.Dense(K,activation="softmax",name="head",dtype="float32")(v)
    model=keras.Model(inp,out)
    steps=o["epochs"]*math.ceil(len(x)/o["batch"]); warm=max(1,int(steps*o["warm"]))
    peak=o["lr"] if o["opt"]!="muon" else o["muonlr"]
    if o["sched"]=="cosine": rate=keras.optimizers.schedules.CosineDecay(0.0,steps-warm,warmup_target=peak,warmup_steps=warm)
    else:
        class Lin(keras.optimizers.schedules.LearningRateSchedule):
            def __call__(self,s):
                s=ops.cast(s,"float32"); return peak*ops.minimum(s/warm,(steps-s)/(steps-warm))
        rate=Lin()
    if o["opt"]=="muon":
        class M(keras.optimizers.Muon):
            def _should_use_adamw(self,var): return len(var.shape)!=4
            def _muon_update_step(self,g,var,lr,m):
                self.assign_add(m, ops.add(g, m*(self.momentum-1)))
                u=ops.add(g,self.momentum*m)
                u=ops.reshape(u,(-1,u.shape[-1]))
                u=self.zeropower_via_newtonschulz5(u,self.ns_steps)*math.sqrt(max(u.shape))*.2
                self.assign_sub(var, ops.cast(lr,var.dtype)*ops.reshape(u,var.shape))
        opt=M(rate,adam_lr_ratio=o["lr"]/peak,weight_decay=o["wd"],adam_weight_decay=o["wd"],ns_steps=4)
    else: opt=keras.optimizers.AdamW(rate,weight_decay=o["wd"],beta_2=.999 if o["opt"]=="adamw" else .99,use_ema=bool(o["ema"]),ema_momentum=o["ema"] or .99)
    model.compile(opt,keras.losses.CategoricalCrossentropy(label_smoothing=o["ls"]),steps_per_execution=executed_steps(len(x),o["batch"]))
    Y=np.eye(K,dtype="float32")[y]
    cb=[]
    class Choose(ChooseAugmentation):
        def on_epoch_begin(self,e,logs=None):
            super().on_epoch_begin(e,logs)
            if e==self.epoch:
                s=aff.strengths.numpy(); s[0]=max(o["shift"],1/x.shape[1])
                if o["rotation"] is not None: s[1]=o["rotation"]
                if o["zoom"] is not None: s[2]=o["zoom"]
                aff.strengths.assign(s)
    cb=[Choose(xv,yv,round(o["epochs"]/6))]
    t=time.time(); c0=time.process_time()
    h=seeded_fit(model,x,Y,o["seed"],epochs=o["epochs"],batch_size=o["batch"],verbose=0,callbacks=cb)
    if o["ema"]: model.optimizer.finalize_variable_values(model.trainable_variables)
    sec=time.time()-t; cpu=time.process_time()-c0
    strengths=aff.strengths.numpy().tolist()
    iv=ImageViews(1,flip=strengths[3]>0)
    def pred(X):
        r=[]
        for s in range(0,len(X),500):
            p=X[s:s+500]; q=model.predict(ops.convert_to_numpy(iv(p)),batch_size=500,verbose=0)
            r.append(q.reshape(iv.views,len(p),-1).mean(0))
        return np.concatenate(r)
    pv,pe=pred(xv),pred(xe)
    np.savez_compressed("/tmp/w/img/p_"+hashlib.sha256(key(o).encode()).hexdigest()[:16]+".npz",v=pv,e=pe)
    r=score(pv,yv,pe,ye,y)
    row=dict(key=key(o),**r,seconds=round(sec,1),cpu=round(cpu,1),loss=round(h.history["loss"][-1],4),strengths=json.dumps([round(a,3) for a in strengths]),params=model.count_params())
    with open(OUT,"a") as f:
        fcntl.flock(f,fcntl.LOCK_EX); wr=csv.DictWriter(f,list(row)); 
        if f.tell()==0: wr.writeheader()
        wr.writerow(row)
    print(row,flush=True)
def score(pv,yv,pe,ye,y):
    import csdl_keras as csdl
    from scipy.optimize import minimize_scalar
    def temper(p,t):
        q=np.maximum(p,1e-12)**(1/t); return q/q.sum(1,keepdims=True)
    nll=lambda lt: -np.log(temper(pv,np.exp(lt))[np.arange(len(yv)),yv]+1e-12).mean()
    T=np.exp(minimize_scalar(nll,bounds=(-2,2),method="bounded").x); q=temper(pe,T)
    known=np.concatenate([y,yv]); cs=[]
    for i in range(20):
        C=csdl.costs.randomized_proportional(known,seed=2000+i); cs.append(C[ye,(q@C).argmin(1)].mean())
    return dict(cost=round(float(np.mean(cs)),4),err=round(float((pe.argmax(1)!=ye).mean()),4),nll=round(float(-np.log(q[np.arange(len(ye)),ye]+1e-12).mean()),4),T=round(float(T),3))
if __name__=="__main__":
    o=dict(BASE); o.update(json.loads(sys.argv[1])); 
    for k in ("filters","convs"): o[k]=tuple(o[k])
    main(o,int(sys.argv[2]) if len(sys.argv)>2 else 1)
